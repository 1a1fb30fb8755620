// SPDX-License-Identifier: Apache-2.0

// Package shoottolerationrestriction rejects tolerations of Shoots that their Project does not allow, and adds its default
// tolerations (API-TOL-1, 2).
package shoottolerationrestriction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world  *world.World
	config gardenconfigv1alpha1.ShootTolerationConfiguration
}

// New returns the constructor of the plugin. The configuration has defaults and a whitelist for all shoots, in addition to
// those of their projects.
func New(c *gardenconfigv1alpha1.ShootTolerationConfiguration) func(*world.World) admission.Interface {
	if c == nil {
		c = &gardenconfigv1alpha1.ShootTolerationConfiguration{}
	}
	return func(w *world.World) admission.Interface {
		return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, config: *c}
	}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// Admit adds the default tolerations of the garden and of the project, unless the shoot has a toleration with the same key.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || a.GetOperation() != admission.Create {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		given, err := r.given(ctx, v, shoot.Namespace)
		for _, d := range given.Defaults {
			if !slices.ContainsFunc(shoot.Spec.Tolerations, func(t gardencorev1beta1.Toleration) bool { return t.Key == d.Key }) {
				shoot.Spec.Tolerations = append(shoot.Spec.Tolerations, d)
			}
		}
		return err
	})
}

// Validate rejects new tolerations that neither the project nor the garden allows.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() == "status" || shoot.DeletionTimestamp != nil {
		return nil
	}
	var before []gardencorev1beta1.Toleration
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok {
		before = old.Spec.Tolerations
	}
	added := added(shoot.Spec.Tolerations, before)
	if len(added) == 0 {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		given, err := r.given(ctx, v, shoot.Namespace)
		if err != nil {
			return err
		}
		var errs []error
		for _, i := range added {
			if t := shoot.Spec.Tolerations[i]; !slices.ContainsFunc(given.Whitelist, allows(t)) {
				errs = append(errs, fmt.Errorf("%s: neither the whitelist of the project nor that of the garden allows the toleration %s",
					field.NewPath("spec", "tolerations").Index(i), text(t)))
			}
		}
		return errors.Join(errs...)
	})
}

// given returns the default tolerations and the whitelist of the configuration and of the project of a namespace.
func (r *rule) given(ctx context.Context, v world.View, namespace string) (gardencorev1beta1.ProjectTolerations, error) {
	all := gardencorev1beta1.ProjectTolerations{
		Defaults: slices.Clone(r.config.Defaults), Whitelist: slices.Clone(r.config.Whitelist),
	}
	project, err := v.Project(ctx, namespace)
	if err == nil && project.Spec.Tolerations != nil {
		all.Defaults = append(all.Defaults, project.Spec.Tolerations.Defaults...)
		all.Whitelist = append(all.Whitelist, project.Spec.Tolerations.Whitelist...)
	}
	return all, err
}

// added returns the indexes of new tolerations.
func added(now, before []gardencorev1beta1.Toleration) []int {
	var places []int
	for i, t := range now {
		if !slices.ContainsFunc(before, func(was gardencorev1beta1.Toleration) bool { return text(was) == text(t) }) {
			places = append(places, i)
		}
	}
	return places
}

// allows returns a function that reports whether an entry of a whitelist covers a toleration: it has the same key, and no value
// or the same.
func allows(t gardencorev1beta1.Toleration) func(gardencorev1beta1.Toleration) bool {
	return func(listed gardencorev1beta1.Toleration) bool {
		return listed.Key == t.Key && (listed.Value == nil || t.Value != nil && *listed.Value == *t.Value)
	}
}

func text(t gardencorev1beta1.Toleration) string {
	if t.Value == nil {
		return fmt.Sprintf("%q", t.Key)
	}
	return fmt.Sprintf("%q with value %q", t.Key, *t.Value)
}
