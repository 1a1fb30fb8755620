// SPDX-License-Identifier: Apache-2.0

// Package namespacedcloudprofilevalidator looks at a NamespacedCloudProfile together with the CloudProfile that it extends
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

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses a profile that would not go with its parent. Without a change nothing is looked at, so that what a
// parent has become since stops nobody from writing labels.
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
			return fmt.Errorf("together with CloudProfile %q it would be no valid profile: %w", name, err)
		}
		return nil
	})
}

// versions checks that versions of Kubernetes are known to the parent and get an end that is still to come.
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
			errs = append(errs, fmt.Errorf("%s.expirationDate: must say until when the project may use the version", path))
		}
		unchanged := slices.ContainsFunc(before, func(o gardencorev1beta1.ExpirableVersion) bool { return equality.Semantic.DeepEqual(o, v) })
		if v.ExpirationDate != nil && !v.ExpirationDate.After(now) && !unchanged {
			errs = append(errs, fmt.Errorf("%s.expirationDate: %s is in the past", path, v.ExpirationDate.UTC().Format(time.RFC3339)))
		}
	}
	return errs
}

// images checks that of versions which the parent has nothing but the end is said.
func images(p, old *profile, from *parent) []error {
	var errs []error
	for i, image := range p.Spec.MachineImages {
		of, was := versionsOf(from.Spec.MachineImages, image.Name), versionsOf(old.Spec.MachineImages, image.Name)
		for j, v := range image.Versions {
			path := field.NewPath("spec", "machineImages").Index(i).Child("versions").Index(j)
			there := slices.ContainsFunc(of, func(o gardencorev1beta1.MachineImageVersion) bool { return o.Version == v.Version })
			unchanged := slices.ContainsFunc(was, func(o gardencorev1beta1.MachineImageVersion) bool { return equality.Semantic.DeepEqual(o, v) })
			// A version that the parent got later is the parent's; what was said before about it counts no more.
			if there && !unchanged && !onlyEnd(v) {
				errs = append(errs, fmt.Errorf("%s: CloudProfile %q has the version %q, of which only expirationDate can be said here",
					path, from.Name, v.Version))
			}
			if there && v.ExpirationDate == nil && len(v.Lifecycle) == 0 && !unchanged {
				errs = append(errs, fmt.Errorf("%s.expirationDate: must say until when the project may use the version", path))
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

// onlyEnd reports whether nothing but the end of a version is said.
func onlyEnd(v gardencorev1beta1.MachineImageVersion) bool {
	rest := v
	rest.ExpirableVersion = gardencorev1beta1.ExpirableVersion{}
	return v.Classification == nil && equality.Semantic.DeepEqual(rest, gardencorev1beta1.MachineImageVersion{})
}

// types checks that added types are not the parent's. One that the parent got later may stay.
func types(p, old *profile, from *parent) []error {
	var errs []error
	for i, t := range p.Spec.MachineTypes {
		same := func(o gardencorev1beta1.MachineType) bool { return o.Name == t.Name }
		if slices.ContainsFunc(from.Spec.MachineTypes, same) && !slices.ContainsFunc(old.Spec.MachineTypes, same) {
			errs = append(errs, fmt.Errorf("spec.machineTypes[%d]: CloudProfile %q has machine type %q already", i, from.Name, t.Name))
		}
	}
	for i, t := range p.Spec.VolumeTypes {
		same := func(o gardencorev1beta1.VolumeType) bool { return o.Name == t.Name }
		if slices.ContainsFunc(from.Spec.VolumeTypes, same) && !slices.ContainsFunc(old.Spec.VolumeTypes, same) {
			errs = append(errs, fmt.Errorf("spec.volumeTypes[%d]: CloudProfile %q has volume type %q already", i, from.Name, t.Name))
		}
	}
	return errs
}
