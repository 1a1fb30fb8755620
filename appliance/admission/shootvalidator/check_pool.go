// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/offer"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// poolCheck validates a worker pool against the offer of the profile.
type poolCheck struct {
	offer.Offer

	// old is the old spec of the shoot, empty for a new shoot.
	spec, old *gardencorev1beta1.ShootSpec
	// was is the old pool, empty for a new one.
	pool, was *gardencorev1beta1.Worker
	// region is the region of the shoot, nil if the profile no longer offers it.
	region *gardencorev1beta1.Region
	// moves says that the shoot changes to another profile.
	moves bool
}

func (c poolCheck) all(path *field.Path) field.ErrorList {
	errs := c.machineTypeOffered(path.Child("machine", "type"))
	errs = append(errs, c.moved(path)...)
	errs = append(errs, c.volumeOffered(path.Child("volume"))...)
	errs = append(errs, c.imageOffered(path)...)
	errs = append(errs, c.zonesOffered(path.Child("zones"))...)
	errs = append(errs, c.versionOffered(path.Child("kubernetes", "version"))...)
	return append(errs, c.reserved(path)...)
}

// machineTypeOffered checks that the machine type is offered, usable and available in the zones, and has the architecture of
// the pool. An unchanged type is checked only against a new zone or another architecture (API-SVAL-14).
func (c poolCheck) machineTypeOffered(path *field.Path) field.ErrorList {
	name := c.pool.Machine.Type
	same := name == c.was.Machine.Type
	other := offer.MachineOf(c.pool).Architecture != offer.MachineOf(c.was).Architecture
	if same && !other && slices.Equal(c.pool.Zones, c.was.Zones) {
		return nil
	}
	t := c.MachineType(name)
	if !same && (t == nil || t.Usable != nil && !*t.Usable) {
		return field.ErrorList{field.NotSupported(path, name, c.usableTypes())}
	}
	a := c.pool.Machine.Architecture
	if (!same || other) && t != nil && t.Architecture != nil && a != nil && *t.Architecture != *a {
		return field.ErrorList{field.Invalid(path, name, "is of architecture "+*t.Architecture+", not "+*a)}
	}
	lacks := func(z gardencorev1beta1.AvailabilityZone) bool {
		return slices.Contains(z.UnavailableMachineTypes, name)
	}
	return c.inZones(name, path, lacks)
}

func (c poolCheck) inZones(
	value string, path *field.Path, lacks func(gardencorev1beta1.AvailabilityZone) bool,
) field.ErrorList {
	if c.region == nil {
		return nil
	}
	for _, z := range c.region.Zones {
		if slices.Contains(c.pool.Zones, z.Name) && lacks(z) {
			return field.ErrorList{field.Invalid(path, value, "is not available in zone "+z.Name)}
		}
	}
	return nil
}

func (c poolCheck) usableTypes() []string {
	var out []string
	for _, t := range c.Profile.MachineTypes {
		if t.Usable == nil || *t.Usable {
			out = append(out, t.Name)
		}
	}
	return out
}

// volumeOffered checks that the volume type is offered, and that the size is not below the minimum of the machine type or
// else of the volume type (API-SVAL-14).
func (c poolCheck) volumeOffered(path *field.Path) field.ErrorList {
	v := c.pool.Volume
	if v == nil || equality.Semantic.DeepEqual(v, c.was.Volume) && c.pool.Machine.Type == c.was.Machine.Type &&
		slices.Equal(c.pool.Zones, c.was.Zones) {
		return nil
	}
	var least *resource.Quantity
	if v.Type != nil {
		t := c.VolumeType(*v.Type)
		known := c.was.Volume != nil && c.was.Volume.Type != nil && *c.was.Volume.Type == *v.Type
		if !known && (t == nil || t.Usable != nil && !*t.Usable) {
			all := names(c.Profile.VolumeTypes, func(t gardencorev1beta1.VolumeType) string { return t.Name })
			return field.ErrorList{field.NotSupported(path.Child("type"), *v.Type, all)}
		}
		lacks := func(z gardencorev1beta1.AvailabilityZone) bool {
			return slices.Contains(z.UnavailableVolumeTypes, *v.Type)
		}
		if errs := c.inZones(*v.Type, path.Child("type"), lacks); len(errs) > 0 {
			return errs
		}
		if t != nil {
			least = t.MinSize
		}
	}
	if t := c.MachineType(c.pool.Machine.Type); t != nil && t.Storage != nil && t.Storage.MinSize != nil {
		least = t.Storage.MinSize
	}
	size, err := resource.ParseQuantity(v.Size)
	if err != nil || least == nil || size.Cmp(*least) >= 0 {
		return nil // Static validation rejects an invalid size.
	}
	return field.ErrorList{field.Invalid(path.Child("size"), v.Size, "must be at least "+least.String())}
}

// zonesOffered checks that the zones of a pool are offered (API-SVAL-16).
func (c poolCheck) zonesOffered(path *field.Path) field.ErrorList {
	if c.region == nil || slices.Equal(c.pool.Zones, c.was.Zones) {
		return nil
	}
	offered := names(c.region.Zones, func(z gardencorev1beta1.AvailabilityZone) string { return z.Name })
	var errs field.ErrorList
	for i, z := range c.pool.Zones {
		if !slices.Contains(offered, z) && !slices.Contains(c.was.Zones, z) {
			errs = append(errs, field.NotSupported(path.Index(i), z, offered))
		}
	}
	return errs
}

// versionOffered checks the Kubernetes version of pools with their own one: it is offered and has not expired (API-SVAL-13).
func (c poolCheck) versionOffered(path *field.Path) field.ErrorList {
	if c.pool.Kubernetes == nil || c.pool.Kubernetes.Version == nil ||
		*c.pool.Kubernetes.Version == c.spec.Kubernetes.Version {
		return nil
	}
	var old *string
	if c.was.Kubernetes != nil {
		old = c.was.Kubernetes.Version
	}
	return checkVersion(c.pool.Kubernetes.Version, old, path, c.Offer)
}

// reserved checks that the kubelet reserves less than the whole machine (API-SVAL-19).
func (c poolCheck) reserved(path *field.Path) field.ErrorList {
	kubelet := c.spec.Kubernetes.Kubelet
	at := field.NewPath("spec", "kubernetes", "kubelet")
	if k := c.pool.Kubernetes; k != nil && k.Kubelet != nil {
		kubelet, at = k.Kubelet, path.Child("kubernetes", "kubelet")
	}
	t := c.MachineType(c.pool.Machine.Type)
	if t == nil || kubelet == nil || kubelet.KubeReserved == nil {
		return nil
	}
	var errs field.ErrorList
	for _, part := range []struct {
		name     string
		reserved *resource.Quantity
		has      resource.Quantity
	}{{"cpu", kubelet.KubeReserved.CPU, t.CPU}, {"memory", kubelet.KubeReserved.Memory, t.Memory}} {
		// A machine type without the resource is not checked, because its real amount is not known.
		if part.reserved != nil && !part.has.IsZero() && part.reserved.Cmp(part.has) >= 0 {
			errs = append(errs, field.Invalid(at.Child("kubeReserved", part.name), part.reserved.String(),
				fmt.Sprintf("must be less than the %s of machine type %s", part.has.String(), t.Name)))
		}
	}
	return errs
}
