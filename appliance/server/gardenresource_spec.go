// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	componentversion "k8s.io/component-base/version"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The maintenance time window of a new Garden.
const (
	windowBegin = "220000+0000"
	windowEnd   = "230000+0000"
)

// describe returns what the server is and what its configuration says. Domains, window and further bounds are what users have set.
func (d described) describe(present *gardenoperatorv1alpha1.GardenSpec) *gardenoperatorv1alpha1.GardenSpec {
	spec := &gardenoperatorv1alpha1.GardenSpec{}
	virtual := &spec.VirtualCluster
	virtual.DNS = present.VirtualCluster.DNS
	virtual.Maintenance = present.VirtualCluster.Maintenance
	if window := &virtual.Maintenance.TimeWindow; window.Begin == "" {
		window.Begin, window.End = windowBegin, windowEnd
	}
	virtual.Gardener = d.components(&present.VirtualCluster.Gardener)
	virtual.Kubernetes = gardenoperatorv1alpha1.Kubernetes{
		Version: kubernetesVersion(build.KubernetesVersion()),
		KubeAPIServer: &gardenoperatorv1alpha1.KubeAPIServerConfig{KubeAPIServerConfig: gardencorev1beta1.KubeAPIServerConfig{
			EventTTL: d.Config.EventTTL, EncryptionConfig: d.encryption(),
		}},
		KubeControllerManager: &gardenoperatorv1alpha1.KubeControllerManagerConfig{
			CertificateSigningDuration: d.Config.Certificates.ClientLifetime,
		},
	}
	// The API sets the defaults; without them the spec would look different from what is stored.
	full := &gardenoperatorv1alpha1.Garden{Spec: *spec.DeepCopy()}
	gardenoperatorv1alpha1.SetDefaultsGarden(full)

	return &full.Spec
}

// components are the settings of the garden's own components, which are parts of this server and have one log.
func (d described) components(present *gardenoperatorv1alpha1.Gardener) gardenoperatorv1alpha1.Gardener {
	level := string(d.Logs.Level())
	strategy := string(d.Config.Scheduler.CandidateDeterminationStrategy)
	is := gardenoperatorv1alpha1.Gardener{
		ClusterIdentity: d.identity(),
		APIServer: &gardenoperatorv1alpha1.GardenerAPIServerConfig{
			EncryptionConfig: d.encryption(), ShootAdminKubeconfigMaxExpiration: d.shorterKubeconfig(present),
		},
		AdmissionController: &gardenoperatorv1alpha1.GardenerAdmissionControllerConfig{LogLevel: &level, ResourceAdmissionConfiguration: objectLimits(present)},
		ControllerManager:   &gardenoperatorv1alpha1.GardenerControllerManagerConfig{LogLevel: &level},
		Scheduler:           &gardenoperatorv1alpha1.GardenerSchedulerConfig{LogLevel: &level},
	}
	if strategy != "" {
		is.Scheduler.Strategy = &strategy
	}

	return is
}

// encryption shows the provider that encrypts Secrets, if the API has a name for it.
func (d described) encryption() *gardencorev1beta1.EncryptionConfig {
	c := &gardencorev1beta1.EncryptionConfig{}
	_, name, err := d.on.keys.Encryption.Resources()
	provider := gardencorev1beta1.EncryptionProviderType(name)
	switch provider {
	case gardencorev1beta1.EncryptionProviderTypeAescbc, gardencorev1beta1.EncryptionProviderTypeAesgcm, gardencorev1beta1.EncryptionProviderTypeSecretbox:
		if err == nil {
			c.Provider.Type = &provider
		}
	}

	return c
}

// kubernetesVersion is the version of the API. Builds without a version have that of their libraries.
func kubernetesVersion(built string) string {
	built = strings.TrimPrefix(built, "v")
	if v, err := version.ParseSemantic(built); err != nil || v.Major() == 0 {
		return componentversion.DefaultKubeBinaryVersion + ".0"
	}

	return built
}

// setting returns why a field cannot be changed in this server; empty if it can.
func (d described) setting(field string) string {
	if d.on.stores.External == nil {
		return ""
	}
	switch field {
	case "virtualCluster.dns.domains":
		return "other servers on the datastore have certificates of their own; set externalAddresses in /etc/terrarium/server.yaml of each"
	case "virtualCluster.maintenance.timeWindow":
		return "the datastore is not checked by this server"
	default:
		return ""
	}
}

// apply makes the server do what users have set.
func (d described) apply(_ context.Context, want *gardenoperatorv1alpha1.GardenSpec, changed bool) error {
	window := want.VirtualCluster.Maintenance.TimeWindow
	if w, ok := query.MaintenanceWindow(&gardencorev1beta1.ShootSpec{Maintenance: &gardencorev1beta1.Maintenance{TimeWindow: &window}}); ok {
		d.window.Store(&w)
	}
	d.applyBounds(&want.VirtualCluster.Gardener)
	var errs []error
	if changed {
		errs = append(errs, d.applyLogLevel(&want.VirtualCluster.Gardener))
	}
	if d.on.stores.External == nil {
		errs = append(errs, d.applyDomains(want.VirtualCluster.DNS.Domains))
	}

	return errors.Join(errs...)
}

// applyLogLevel sets the level of the log to the one of the three that is new.
func (d described) applyLogLevel(g *gardenoperatorv1alpha1.Gardener) error {
	var levels []*string
	if c := g.AdmissionController; c != nil {
		levels = append(levels, c.LogLevel)
	}
	if c := g.ControllerManager; c != nil {
		levels = append(levels, c.LogLevel)
	}
	if c := g.Scheduler; c != nil {
		levels = append(levels, c.LogLevel)
	}
	for _, level := range levels {
		if level == nil || *level == string(d.Logs.Level()) {
			continue
		}
		if err := d.Logs.SetLevel(telemetry.Level(*level)); err != nil {
			return fmt.Errorf("set log level: %w", err)
		}
		d.Log.Info("Log level changed", "level", *level)

		return nil
	}

	return nil
}

// applyDomains puts the names of the API in all domains into the certificate of the port (OPER-FLOW-13).
func (d described) applyDomains(domains []gardenoperatorv1alpha1.DNSDomain) error {
	var names []string
	for _, domain := range domains {
		names = append(names, "api."+domain.Name, "gardener."+domain.Name)
	}
	renewed, err := d.on.keys.Certificates.SetDomains(names, d.Clock.Now())
	if err != nil {
		return fmt.Errorf("renew the certificate with the domains: %w", err)
	}
	if len(renewed) > 0 {
		d.Log.Info("Certificates renewed for the domains of the Garden", "certificates", renewed)

		return d.on.keys.Certificates.WriteAdminKubeconfig(d.on.door.addresses.local)
	}

	return nil
}

// awaitWindow waits until the maintenance time window is open. It reports false if ctx ends first.
func (s *server) awaitWindow(ctx context.Context) bool {
	w := s.window.Load()
	if w == nil {
		return ctx.Err() == nil
	}
	now := s.Clock.Now()
	begin, _ := w.Occurrence(now)
	if w.Contains(now) {
		return ctx.Err() == nil
	}
	timer := s.Clock.NewTimer(begin.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
