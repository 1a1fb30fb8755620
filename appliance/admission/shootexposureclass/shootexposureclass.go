// SPDX-License-Identifier: Apache-2.0

// Package shootexposureclass merges the scheduling constraints of its ExposureClass into a new Shoot (API-EXPO-1).
package shootexposureclass

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create), world: w}
}

var _ admission.MutationInterface = &rule{}

// Admit merges the seed selector and tolerations of the class into the Shoot. It rejects a Shoot that contradicts them.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || shoot.Spec.ExposureClassName == nil {
		return nil
	}
	var selector *gardencorev1beta1.SeedSelector
	var tolerations []gardencorev1beta1.Toleration
	err := r.world.Decide(a, func(v world.View) error {
		class, err := world.Get[gardencorev1beta1.ExposureClass](ctx, v, world.Place{
			Group: gardencorev1beta1.GroupName, Resource: "exposureclasses", Name: *shoot.Spec.ExposureClassName,
		})
		if err != nil {
			return world.Missing(err, "spec.exposureClassName", "ExposureClass", *shoot.Spec.ExposureClassName)
		}
		selector, tolerations = shoot.Spec.SeedSelector, shoot.Spec.Tolerations
		if class.Scheduling == nil {
			return nil
		}
		if selector, err = united(selector, class.Scheduling.SeedSelector, class.Name); err != nil {
			return err
		}
		tolerations, err = joined(tolerations, class.Scheduling.Tolerations, class.Name)
		return err
	})
	if err != nil {
		return err
	}
	shoot.Spec.SeedSelector, shoot.Spec.Tolerations = selector, tolerations
	return nil
}

// united returns a selector of the seeds that both selectors select.
func united(own, given *gardencorev1beta1.SeedSelector, class string) (*gardencorev1beta1.SeedSelector, error) {
	if given == nil {
		return own, nil
	}
	if own == nil {
		return given.DeepCopy(), nil
	}
	out := own.DeepCopy()
	for key, value := range given.MatchLabels {
		if has, ok := out.MatchLabels[key]; ok && has != value {
			return nil, fmt.Errorf("spec.seedSelector.matchLabels[%s]: ExposureClass %q requires the value %q, the shoot %q",
				key, class, value, has)
		}
		metav1.AddLabelToSelector(&out.LabelSelector, key, value)
	}
	out.MatchExpressions = append(out.MatchExpressions, given.DeepCopy().MatchExpressions...)
	for _, provider := range given.ProviderTypes {
		if !slices.Contains(out.ProviderTypes, provider) {
			out.ProviderTypes = append(out.ProviderTypes, provider)
		}
	}
	return out, nil
}

func joined(own, given []gardencorev1beta1.Toleration, class string) ([]gardencorev1beta1.Toleration, error) {
	out := slices.Clone(own)
	for _, t := range given {
		if slices.ContainsFunc(own, func(o gardencorev1beta1.Toleration) bool { return o.Key == t.Key }) {
			return nil, fmt.Errorf("spec.tolerations: both the shoot and ExposureClass %q tolerate %q; remove it from the shoot", class, t.Key)
		}
		out = append(out, t)
	}
	return out, nil
}
