// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/offer"
)

// imageOffered holds API-SVAL-15. A pool keeps its version, and may go to a higher one that has expired.
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
		return nil
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
			return c.imageFits(v, path)
		}
		if c.Active(v.ExpirableVersion) {
			offered = append(offered, v.Version)
		}
	}
	return field.ErrorList{field.NotSupported(here.Child("version"), *version, offered)}
}

// imageFits holds an image against the rest of the pool: architecture, container runtime, version of the kubelet.
func (c poolCheck) imageFits(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	here := path.Child("machine", "image", "version")
	var errs field.ErrorList
	if m := offer.MachineOf(c.pool); !c.Suits(v, offer.Machine{Architecture: m.Architecture, Type: m.Type}) {
		errs = append(errs, field.Invalid(here, v.Version, "is not made for architecture "+m.Architecture))
	} else if !c.Suits(v, m) {
		errs = append(errs, field.Invalid(here, v.Version, "can not be updated to in place"))
	}
	errs = append(errs, c.runtimeOffered(v, path.Child("cri"))...)
	return append(errs, c.kubeletFits(v, here)...)
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
	kubelet := c.spec.Kubernetes.Version
	if k := c.pool.Kubernetes; k != nil && k.Version != nil {
		kubelet = *k.Version
	}
	constraint, err := semver.NewConstraint(*v.KubeletVersionConstraint)
	if err != nil {
		return field.ErrorList{field.Invalid(path, v.Version, fmt.Sprintf("has a broken kubeletVersionConstraint: %s", err))}
	}
	version, err := semver.NewVersion(kubelet)
	if err != nil || constraint.Check(version) {
		return nil // Static validation judges what is no version at all.
	}
	return field.ErrorList{field.Invalid(path, v.Version, fmt.Sprintf("works with kubelets %s only, not with %s", *v.KubeletVersionConstraint, kubelet))}
}
