// SPDX-License-Identifier: Apache-2.0

// Package extensionvalidator refuses Shoots and Seeds that need an extension which nobody registered (API-EXTVAL-1 to 4).
package extensionvalidator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// need is a kind and type of extension that an object asks for.
type need struct {
	path       *field.Path
	kind, name string
}

// Validate reports every missing combination in one error (API-EXTVAL-4).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || shoot.DeletionTimestamp != nil || unchanged(a, shoot) {
		return nil
	}
	registrations, err := r.world.ControllerRegistrations(ctx)
	if err != nil {
		return admission.NewForbidden(a, fmt.Errorf("list registrations: %w", err))
	}
	var missing []string
	for _, n := range shootNeeds(&shoot.Spec) {
		if n.name != "" && !slices.ContainsFunc(registrations, n.offeredBy) {
			missing = append(missing, fmt.Sprintf("%s: %s/%s", n.path, n.kind, n.name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return admission.NewForbidden(a, fmt.Errorf(
		"no ControllerRegistration offers what the shoot needs (register the extension first): %s", strings.Join(missing, ", ")))
}

func unchanged(a admission.Attributes, shoot *gardencorev1beta1.Shoot) bool {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	return ok && equality.Semantic.DeepEqual(old.Spec, shoot.Spec)
}

func (n need) offeredBy(r gardencorev1beta1.ControllerRegistration) bool {
	return slices.ContainsFunc(r.Spec.Resources, func(res gardencorev1beta1.ControllerResource) bool {
		return res.Kind == n.kind && res.Type == n.name && (res.Primary == nil || *res.Primary)
	})
}

// shootNeeds lists what a shoot asks extensions for (API-EXTVAL-3).
func shootNeeds(s *gardencorev1beta1.ShootSpec) []need {
	path := field.NewPath("spec")
	var needs []need
	for i, e := range s.Extensions {
		if e.Disabled == nil || !*e.Disabled {
			needs = append(needs, need{path.Child("extensions").Index(i).Child("type"), "Extension", e.Type})
		}
	}
	if len(s.Provider.Workers) == 0 {
		return needs
	}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker"} {
		needs = append(needs, need{path.Child("provider", "type"), kind, s.Provider.Type})
	}
	if s.Networking != nil && s.Networking.Type != nil {
		needs = append(needs, need{path.Child("networking", "type"), "Network", *s.Networking.Type})
	}
	for i, w := range s.Provider.Workers {
		here := path.Child("provider", "workers").Index(i)
		if w.Machine.Image != nil {
			needs = append(needs, need{here.Child("machine", "image", "name"), "OperatingSystemConfig", w.Machine.Image.Name})
		}
		if w.CRI == nil {
			continue
		}
		for j, c := range w.CRI.ContainerRuntimes {
			needs = append(needs, need{here.Child("cri", "containerRuntimes").Index(j).Child("type"), "ContainerRuntime", c.Type})
		}
	}
	return needs
}
