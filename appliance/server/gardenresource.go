// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
	"github.com/terrarium-garden/terrarium/controllers/garden/self"
)

// gardenRule is the admission plugin that guards the Garden. It cannot be disabled.
func gardenRule(on *parts) admission.Rule {
	return admission.Rule{Name: gardenresource.Name, New: gardenresource.New(gardenresource.Server{
		Operation: on.rotations.Possible, Setting: on.spec.setting, LongestKubeconfig: on.bounds.longestKubeconfig,
	})}
}

// gardenController keeps the Garden true.
func (s *server) gardenController(on *parts) (*self.Reconciler, error) {
	loopback, err := kubernetes.NewForConfig(s.api.Load().LoopbackConfig())
	if err != nil {
		return nil, fmt.Errorf("create client of the Garden: %w", err)
	}
	status := &gardenStatus{
		version: s.Version, url: on.door.addresses.server, clock: s.Clock, started: s.started, name: s.gardenName,
		keys: on.keys, readiness: &s.readiness, examine: on.examiner.examine, holders: &s.holders, loopback: loopback,
	}

	return &self.Reconciler{Config: s.Config.Controllers.GardenCare, Server: self.Server{
		Identity:  s.gardenName(),
		Settled:   status.settled,
		Describe:  on.spec.describe,
		Apply:     on.spec.apply,
		Report:    status.report,
		Health:    status.health,
		Operate:   on.rotations.Operate,
		Rotations: on.rotations.Phases,
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
