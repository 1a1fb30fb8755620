// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
	"github.com/terrarium-garden/terrarium/controllers/garden/self"
)

const (
	// advertised is the name of the address of the API in the status of the Garden.
	advertised = "virtual-garden"
	// settling is how long the Garden waits for all parts of a server that starts before it says that one is not ready.
	settling = time.Minute
)

// described is the server as its Garden describes it.
type described struct {
	*server

	on ground
}

// gardenRule is the admission plugin that guards the Garden. It cannot be disabled.
func (s *server) gardenRule(on ground) admission.Rule {
	return admission.Rule{Name: gardenresource.Name, New: gardenresource.New(gardenresource.Server{
		Operation: described{s, on}.possible, Setting: described{s, on}.setting, LongestKubeconfig: s.longestKubeconfig,
	})}
}

// gardenLimits is the admission plugin for the limits of objects in the Garden. It cannot be disabled.
func (s *server) gardenLimits() admission.Rule {
	return admission.Rule{Name: gardenresource.LimitsName, New: gardenresource.NewLimits(s.limits.Load)}
}

// gardenController keeps the Garden true.
func (s *server) gardenController(on ground) (*self.Reconciler, error) {
	api := s.api.Load()
	loopback, err := kubernetes.NewForConfig(api.LoopbackConfig())
	if err != nil {
		return nil, fmt.Errorf("create client of the Garden: %w", err)
	}
	d := described{s, on}

	return &self.Reconciler{Config: s.Config.Controllers.GardenCare, Server: self.Server{
		Identity:  d.identity(),
		Settled:   d.settled,
		Describe:  d.describe,
		Apply:     d.apply,
		Report:    d.report,
		Health:    func(ctx context.Context) ([]gardencorev1beta1.Condition, error) { return d.health(ctx, loopback) },
		Operate:   d.operate,
		Rotations: d.phases,
		Changed:   s.gardenChanged,
	}}, nil
}

// tellGarden has the Garden brought up to date.
func (s *server) tellGarden() {
	select {
	case s.gardenChanged <- event.GenericEvent{Object: &gardenoperatorv1alpha1.Garden{}}:
	default:
	}
}

func (d described) identity() string {
	if name := d.name.Load(); name != nil {
		return *name
	}

	return ""
}

// settled reports whether all parts of the server are ready, or have had enough time.
func (d described) settled() bool {
	if d.Clock.Since(d.started) > settling {
		return true
	}
	for _, u := range d.readiness.units {
		if !u.ready.Load() {
			return false
		}
	}

	return true
}

// report writes who and where the server is, and what it encrypts.
func (d described) report(status *gardenoperatorv1alpha1.GardenStatus) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("get the host name: %w", err)
	}
	status.Gardener = &gardencorev1beta1.Gardener{ID: d.identity(), Name: host, Version: d.Version}
	status.AdvertisedAddresses = []gardenoperatorv1alpha1.AdvertisedAddress{{Name: advertised, URL: d.on.door.addresses.server}}
	resources, provider, err := d.on.keys.Encryption.Resources()
	if err != nil {
		return err
	}
	if status.Credentials == nil {
		status.Credentials = &gardenoperatorv1alpha1.Credentials{}
	}
	status.Credentials.EncryptionAtRest = &gardencorev1beta1.EncryptionAtRest{
		Resources: resources, Provider: gardencorev1beta1.EncryptionProviderStatus{Type: gardencorev1beta1.EncryptionProviderType(provider)},
	}

	return nil
}
