// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// capabilityDefinitions checks the capabilities that a profile defines: each has values and is defined once, and the
// architecture is one of them.
func capabilityDefinitions(all []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return nil
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, d := range all {
		here := path.Index(i)
		names = append(names, d.Name)
		errs = append(errs, qualified(d.Name, here.Child("name"), "a capability")...)
		if len(d.Values) == 0 {
			errs = append(errs, field.Required(here.Child("values"), "a capability has at least one value"))
		}
		for j, value := range d.Values {
			at := here.Child("values").Index(j)
			switch {
			case value == "":
				errs = append(errs, field.Invalid(at, value, "must not be empty"))
			case d.Name == gardencorev1beta1.CapabilityArchitecture:
				errs = append(errs, oneOf(value, at, architectures()...)...)
			}
		}
		errs = append(errs, duplicates(d.Values, here.Child("values").Index)...)
	}
	errs = append(errs, duplicates(names, namesIn(path))...)
	if !slices.Contains(names, gardencorev1beta1.CapabilityArchitecture) {
		errs = append(errs, field.Required(path, "must define the capability "+gardencorev1beta1.CapabilityArchitecture))
	}
	return errs
}

func capabilitiesOf(all []gardencorev1beta1.CapabilityDefinition) map[string][]string {
	defined := map[string][]string{}
	for _, d := range all {
		defined[d.Name] = d.Values
	}
	return defined
}

// typeCapabilities checks the capabilities of a machine type, which has exactly one architecture.
func typeCapabilities(t *gardencorev1beta1.MachineType, defined map[string][]string, path *field.Path) field.ErrorList {
	here := path.Child("capabilities")
	if len(defined) == 0 {
		return undefined(len(t.Capabilities), here)
	}
	own := t.Capabilities[gardencorev1beta1.CapabilityArchitecture]
	var errs field.ErrorList
	switch {
	case len(own) > 1:
		errs = append(errs, field.Invalid(here.Child(gardencorev1beta1.CapabilityArchitecture), own, "a machine type has one architecture"))
	case len(own) == 1 && deref(t.Architecture) != "" && *t.Architecture != own[0]:
		errs = append(errs, field.Invalid(path.Child("architecture"), *t.Architecture, "must be "+own[0]+" as in capabilities"))
	}
	return append(errs, ofCapabilities(t.Capabilities, defined, here)...)
}

// flavors checks the variants of an image. If a profile defines several architectures, each variant names one.
func flavors(v gardencorev1beta1.MachineImageVersion, defined map[string][]string, path *field.Path) field.ErrorList {
	here := path.Child("capabilityFlavors")
	if len(defined) == 0 {
		return append(undefined(len(v.CapabilityFlavors), here), architectureList(v, architectures(), path)...)
	}
	known := defined[gardencorev1beta1.CapabilityArchitecture]
	if len(known) > 1 && len(v.CapabilityFlavors) == 0 && len(v.Architectures) == 0 {
		return field.ErrorList{field.Required(here, "must have a variant for each architecture, because machineCapabilities defines several")}
	}
	errs := architectureList(v, known, path)
	for i, f := range v.CapabilityFlavors {
		at, own := here.Index(i).Child(gardencorev1beta1.CapabilityArchitecture), f.Capabilities[gardencorev1beta1.CapabilityArchitecture]
		switch {
		case len(own) == 0 && len(known) > 1:
			errs = append(errs, field.Required(at, "must name one, because machineCapabilities defines several"))
		case len(own) > 1:
			errs = append(errs, field.Invalid(at, own, "a variant has one architecture"))
		}
		errs = append(errs, ofCapabilities(f.Capabilities, defined, here.Index(i))...)
	}
	all := query.ArchitecturesOf(v.CapabilityFlavors, []gardencorev1beta1.CapabilityDefinition{{Name: gardencorev1beta1.CapabilityArchitecture, Values: known}})
	if len(v.CapabilityFlavors) > 0 && slices.ContainsFunc(v.Architectures, func(a string) bool { return !slices.Contains(all, a) }) {
		errs = append(errs, field.Invalid(path.Child("architectures"), v.Architectures, "must be those of capabilityFlavors"))
	}
	return errs
}

func architectureList(v gardencorev1beta1.MachineImageVersion, known []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, a := range v.Architectures {
		errs = append(errs, oneOf(a, path.Child("architectures").Index(i), known...)...)
	}
	return errs
}

func undefined(given int, path *field.Path) field.ErrorList {
	if given == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "cannot be set in a profile without machineCapabilities")}
}

func ofCapabilities(all gardencorev1beta1.Capabilities, defined map[string][]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		known, ok := defined[name]
		if !ok {
			errs = append(errs, field.NotSupported(path, name, slices.Sorted(maps.Keys(defined))))
			continue
		}
		for i, value := range all[name] {
			if !slices.Contains(known, value) {
				errs = append(errs, field.NotSupported(path.Child(name).Index(i), value, known))
			}
		}
	}
	return errs
}
