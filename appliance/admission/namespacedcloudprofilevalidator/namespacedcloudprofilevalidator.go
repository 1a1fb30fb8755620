// SPDX-License-Identifier: Apache-2.0

// Package namespacedcloudprofilevalidator validates a NamespacedCloudProfile together with the CloudProfile that it extends
// (API-NCPV-1).
package namespacedcloudprofilevalidator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type (
	profile = gardencorev1beta1.NamespacedCloudProfile
	parent  = gardencorev1beta1.CloudProfile
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects a profile that conflicts with its parent. An unchanged spec is not checked, so that a later change of the
// parent does not keep users from changing labels.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*profile)
	if !ok || a.GetSubresource() != "" || p.DeletionTimestamp != nil {
		return nil
	}
	old := &profile{}
	if before, ok := a.GetOldObject().(*profile); ok {
		if equality.Semantic.DeepEqual(before.Spec, p.Spec) {
			return nil
		}
		old = before
	}
	return r.world.Decide(a, func(v world.View) error {
		name := p.Spec.Parent.Name
		from, err := v.CloudProfile(ctx, name)
		if err != nil {
			return world.Missing(err, "spec.parent.name", "CloudProfile", name)
		}
		errs := versions(p, old, from, r.world.Clock.Now())
		errs = append(errs, images(p, old, from)...)
		errs = append(errs, types(p, old, from)...)
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if err := validation.ValidateCloudProfile(query.Merged(from, &p.Spec)).ToAggregate(); err != nil {
			return fmt.Errorf("together with CloudProfile %q the profile is not valid: %w", name, err)
		}
		return nil
	})
}

// versions checks that the parent has the versions of Kubernetes and that their expiration dates are in the future.
func versions(p, old *profile, from *parent, now time.Time) []error {
	if p.Spec.Kubernetes == nil {
		return nil
	}
	var before []gardencorev1beta1.ExpirableVersion
	if old.Spec.Kubernetes != nil {
		before = old.Spec.Kubernetes.Versions
	}
	var errs []error
	for i, v := range p.Spec.Kubernetes.Versions {
		path := field.NewPath("spec", "kubernetes", "versions").Index(i)
		if !slices.ContainsFunc(from.Spec.Kubernetes.Versions, func(o gardencorev1beta1.ExpirableVersion) bool { return o.Version == v.Version }) {
			errs = append(errs, fmt.Errorf("%s.version: CloudProfile %q has no version %q", path, from.Name, v.Version))
			continue
		}
		if v.ExpirationDate == nil && len(v.Lifecycle) == 0 {
			errs = append(errs, fmt.Errorf("%s.expirationDate: must be set", path))
		}
		unchanged := slices.ContainsFunc(before, func(o gardencorev1beta1.ExpirableVersion) bool { return equality.Semantic.DeepEqual(o, v) })
		if v.ExpirationDate != nil && !v.ExpirationDate.After(now) && !unchanged {
			errs = append(errs, fmt.Errorf("%s.expirationDate: %s is in the past", path, v.ExpirationDate.UTC().Format(time.RFC3339)))
		}
	}
	return errs
}

// images checks that only the expiration date is set for versions that the parent has.
func images(p, old *profile, from *parent) []error {
	var errs []error
	for i, image := range p.Spec.MachineImages {
		of, was := versionsOf(from.Spec.MachineImages, image.Name), versionsOf(old.Spec.MachineImages, image.Name)
		for j, v := range image.Versions {
			path := field.NewPath("spec", "machineImages").Index(i).Child("versions").Index(j)
			there := slices.ContainsFunc(of, func(o gardencorev1beta1.MachineImageVersion) bool { return o.Version == v.Version })
			unchanged := slices.ContainsFunc(was, func(o gardencorev1beta1.MachineImageVersion) bool { return equality.Semantic.DeepEqual(o, v) })
			// A version that was added to the parent later is the parent's; what the profile has about it is ignored.
			if there && !unchanged && !onlyEnd(v) {
				errs = append(errs, fmt.Errorf("%s: CloudProfile %q has the version %q, for which only expirationDate can be set here",
					path, from.Name, v.Version))
			}
			if there && v.ExpirationDate == nil && len(v.Lifecycle) == 0 && !unchanged {
				errs = append(errs, fmt.Errorf("%s.expirationDate: must be set", path))
			}
		}
	}
	return errs
}

func versionsOf(all []gardencorev1beta1.MachineImage, name string) []gardencorev1beta1.MachineImageVersion {
	for _, image := range all {
		if image.Name == name {
			return image.Versions
		}
	}
	return nil
}

// onlyEnd reports whether only the expiration date of a version is set.
func onlyEnd(v gardencorev1beta1.MachineImageVersion) bool {
	rest := v
	rest.ExpirableVersion = gardencorev1beta1.ExpirableVersion{}
	return v.Classification == nil && equality.Semantic.DeepEqual(rest, gardencorev1beta1.MachineImageVersion{})
}

// types checks that added types are not types of the parent. A type that was added to the parent later may stay.
func types(p, old *profile, from *parent) []error {
	var errs []error
	for i, t := range p.Spec.MachineTypes {
		same := func(o gardencorev1beta1.MachineType) bool { return o.Name == t.Name }
		if slices.ContainsFunc(from.Spec.MachineTypes, same) && !slices.ContainsFunc(old.Spec.MachineTypes, same) {
			errs = append(errs, fmt.Errorf("spec.machineTypes[%d]: CloudProfile %q already has machine type %q", i, from.Name, t.Name))
		}
	}
	for i, t := range p.Spec.VolumeTypes {
		same := func(o gardencorev1beta1.VolumeType) bool { return o.Name == t.Name }
		if slices.ContainsFunc(from.Spec.VolumeTypes, same) && !slices.ContainsFunc(old.Spec.VolumeTypes, same) {
			errs = append(errs, fmt.Errorf("spec.volumeTypes[%d]: CloudProfile %q already has volume type %q", i, from.Name, t.Name))
		}
	}
	return errs
}
