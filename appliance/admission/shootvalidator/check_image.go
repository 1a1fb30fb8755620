// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/offer"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// imageOffered checks that the image of a pool is offered, supports its machines, runtimes and kubelets, and has not expired. A
// pool may keep its version, and may be updated to a higher one that has expired. The other changes of a pool that keeps its
// version must be compatible with it (API-SVAL-15).
func (c poolCheck) imageOffered(path *field.Path) field.ErrorList {
	here := path.Child("machine", "image")
	if c.pool.Machine.Image == nil {
		return field.ErrorList{field.Required(here, "the CloudProfile offers no image to choose from")}
	}
	image := c.Image(c.pool.Machine.Image.Name)
	has := c.was.Machine.Image
	if has != nil && (has.Version == nil || has.Name != c.pool.Machine.Image.Name) {
		has = nil
	}
	version := c.pool.Machine.Image.Version
	if has != nil && version != nil && *has.Version == *version {
		return c.keptImageFits(image, *version, path)
	}
	if image == nil {
		all := names(c.Profile.MachineImages, func(m gardencorev1beta1.MachineImage) string { return m.Name })
		return field.ErrorList{field.NotSupported(here.Child("name"), c.pool.Machine.Image.Name, all)}
	}
	if version == nil {
		return field.ErrorList{field.Required(here.Child("version"), "the CloudProfile offers no version that has not expired")}
	}
	var offered []string
	for _, v := range image.Versions {
		raised := has != nil && query.Expired(v.ExpirableVersion, c.Now) && query.Higher(v.Version, *has.Version)
		if v.Version == *version && (c.Active(v.ExpirableVersion) || raised) {
			return slices.Concat(c.machineFits(v, path), c.runtimeOffered(v, path.Child("cri")), c.kubeletFits(v, path))
		}
		if c.Active(v.ExpirableVersion) {
			offered = append(offered, v.Version)
		}
	}
	return field.ErrorList{field.NotSupported(here.Child("version"), *version, offered)}
}

// keptImageFits checks that an image version that a pool keeps supports the changes of the pool.
func (c poolCheck) keptImageFits(image *gardencorev1beta1.MachineImage, version string, path *field.Path) field.ErrorList {
	if image == nil {
		return nil
	}
	v := offer.Find(image.Versions, func(v gardencorev1beta1.MachineImageVersion) bool { return v.Version == version })
	if v == nil {
		return nil
	}
	var errs field.ErrorList
	if offer.MachineOf(c.pool) != offer.MachineOf(c.was) {
		errs = append(errs, c.machineFits(*v, path)...)
	}
	if !equality.Semantic.DeepEqual(c.pool.CRI, c.was.CRI) {
		errs = append(errs, c.runtimeOffered(*v, path.Child("cri"))...)
	}
	if kubeletOf(c.pool, c.spec) != kubeletOf(c.was, c.old) {
		errs = append(errs, c.kubeletFits(*v, path)...)
	}
	return errs
}

// machineFits checks that an image supports the machines of the pool.
func (c poolCheck) machineFits(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	here := path.Child("machine", "image", "version")
	if m := offer.MachineOf(c.pool); !c.Suits(v, offer.Machine{Architecture: m.Architecture, Type: m.Type}) {
		return field.ErrorList{field.Invalid(here, v.Version, "does not support architecture "+m.Architecture)}
	} else if !c.Suits(v, m) {
		return field.ErrorList{field.Invalid(here, v.Version, "does not support in-place updates")}
	}
	return nil
}

func (c poolCheck) runtimeOffered(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	if c.pool.CRI == nil || len(v.CRI) == 0 {
		return nil
	}
	cri := offer.Find(v.CRI, func(o gardencorev1beta1.CRI) bool { return o.Name == c.pool.CRI.Name })
	if cri == nil {
		offered := names(v.CRI, func(o gardencorev1beta1.CRI) string { return string(o.Name) })
		return field.ErrorList{field.NotSupported(path.Child("name"), string(c.pool.CRI.Name), offered)}
	}
	offered := names(cri.ContainerRuntimes, func(r gardencorev1beta1.ContainerRuntime) string { return r.Type })
	var errs field.ErrorList
	for i, r := range c.pool.CRI.ContainerRuntimes {
		if !slices.Contains(offered, r.Type) {
			errs = append(errs, field.NotSupported(path.Child("containerRuntimes").Index(i).Child("type"), r.Type, offered))
		}
	}
	return errs
}

func (c poolCheck) kubeletFits(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	if v.KubeletVersionConstraint == nil {
		return nil
	}
	path = path.Child("machine", "image", "version")
	kubelet := kubeletOf(c.pool, c.spec)
	constraint, err := semver.NewConstraint(*v.KubeletVersionConstraint)
	if err != nil {
		return field.ErrorList{field.Invalid(path, v.Version, fmt.Sprintf("has an invalid kubeletVersionConstraint: %s", err))}
	}
	version, err := semver.NewVersion(kubelet)
	if err != nil || constraint.Check(version) {
		return nil // Static validation rejects an invalid version.
	}
	return field.ErrorList{field.Invalid(path, v.Version, fmt.Sprintf("supports only kubelets %s, not %s", *v.KubeletVersionConstraint, kubelet))}
}

// kubeletOf returns the version of a pool's kubelets.
func kubeletOf(w *gardencorev1beta1.Worker, spec *gardencorev1beta1.ShootSpec) string {
	if w.Kubernetes != nil && w.Kubernetes.Version != nil {
		return *w.Kubernetes.Version
	}
	return spec.Kubernetes.Version
}
