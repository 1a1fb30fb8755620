// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/version"
	componentversion "k8s.io/component-base/version"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The maintenance time window of a new Garden.
const (
	windowBegin = "220000+0000"
	windowEnd   = "230000+0000"
)

// gardenSpec writes the spec of the Garden, and does what users set in it.
type gardenSpec struct {
	config *gardenconfigv1alpha1.ServerConfiguration
	clock  clock.PassiveClock
	log    logr.Logger
	logs   *telemetry.Control
	keys   *identity.Garden
	// local is the URL of the server for clients on this machine.
	local string
	// external says that the objects are in an external datastore.
	external bool
	// name returns the unique name of the garden; empty while it is not known.
	name        func() string
	bounds      *gardenBounds
	maintenance *maintenance
}

// describe returns what the server is and what its configuration says. Domains, window and further bounds are what users have set.
func (s *gardenSpec) describe(present *gardenoperatorv1alpha1.GardenSpec) *gardenoperatorv1alpha1.GardenSpec {
	spec := &gardenoperatorv1alpha1.GardenSpec{}
	virtual := &spec.VirtualCluster
	virtual.DNS = present.VirtualCluster.DNS
	virtual.Maintenance = present.VirtualCluster.Maintenance
	if window := &virtual.Maintenance.TimeWindow; window.Begin == "" {
		window.Begin, window.End = windowBegin, windowEnd
	}
	virtual.Gardener = s.components(&present.VirtualCluster.Gardener)
	virtual.Kubernetes = gardenoperatorv1alpha1.Kubernetes{
		Version: kubernetesVersion(build.KubernetesVersion()),
		KubeAPIServer: &gardenoperatorv1alpha1.KubeAPIServerConfig{KubeAPIServerConfig: gardencorev1beta1.KubeAPIServerConfig{
			EventTTL: s.config.EventTTL, EncryptionConfig: s.encryption(),
		}},
		KubeControllerManager: &gardenoperatorv1alpha1.KubeControllerManagerConfig{
			CertificateSigningDuration: s.config.Certificates.ClientLifetime,
		},
	}
	// The API sets the defaults; without them the spec would look different from what is stored.
	full := &gardenoperatorv1alpha1.Garden{Spec: *spec.DeepCopy()}
	gardenoperatorv1alpha1.SetDefaultsGarden(full)

	return &full.Spec
}

// components are the settings of the garden's own components, which are parts of this server and have one log.
func (s *gardenSpec) components(present *gardenoperatorv1alpha1.Gardener) gardenoperatorv1alpha1.Gardener {
	level := string(s.logs.Level())
	strategy := string(s.config.Scheduler.CandidateDeterminationStrategy)
	is := gardenoperatorv1alpha1.Gardener{
		ClusterIdentity: s.name(),
		APIServer: &gardenoperatorv1alpha1.GardenerAPIServerConfig{
			EncryptionConfig: s.encryption(), ShootAdminKubeconfigMaxExpiration: s.bounds.shorterKubeconfig(present),
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
func (s *gardenSpec) encryption() *gardencorev1beta1.EncryptionConfig {
	c := &gardencorev1beta1.EncryptionConfig{}
	_, name, err := s.keys.Encryption.Resources()
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
func (s *gardenSpec) setting(field string) string {
	if !s.external {
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
func (s *gardenSpec) apply(_ context.Context, want *gardenoperatorv1alpha1.GardenSpec, changed bool) error {
	s.maintenance.apply(want.VirtualCluster.Maintenance.TimeWindow)
	s.bounds.apply(&want.VirtualCluster.Gardener)
	var errs []error
	if changed {
		errs = append(errs, s.applyLogLevel(&want.VirtualCluster.Gardener))
	}
	if !s.external {
		errs = append(errs, s.applyDomains(want.VirtualCluster.DNS.Domains))
	}

	return errors.Join(errs...)
}

// applyLogLevel sets the level of the log to the one of the three that is new.
func (s *gardenSpec) applyLogLevel(g *gardenoperatorv1alpha1.Gardener) error {
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
		if level == nil || *level == string(s.logs.Level()) {
			continue
		}
		if err := s.logs.SetLevel(telemetry.Level(*level)); err != nil {
			return fmt.Errorf("set log level: %w", err)
		}
		s.log.Info("Log level changed", "level", *level)

		return nil
	}

	return nil
}

// applyDomains puts the names of the API in all domains into the certificate of the port (OPER-FLOW-13).
func (s *gardenSpec) applyDomains(domains []gardenoperatorv1alpha1.DNSDomain) error {
	var names []string
	for _, domain := range domains {
		names = append(names, "api."+domain.Name, "gardener."+domain.Name)
	}
	renewed, err := s.keys.Certificates.SetDomains(names, s.clock.Now())
	if err != nil {
		return fmt.Errorf("renew the certificate with the domains: %w", err)
	}
	if len(renewed) > 0 {
		s.log.Info("Certificates renewed for the domains of the Garden", "certificates", renewed)

		return s.keys.Certificates.WriteAdminKubeconfig(s.local)
	}

	return nil
}
