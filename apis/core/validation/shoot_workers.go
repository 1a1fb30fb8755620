// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	maxPoolName   = 15
	maxVolumeName = 15
	// maxVolumeDigits bounds a size in gibibytes: with more digits it could not be counted.
	maxVolumeDigits = 9
	minPriority     = -1
)

// workers checks the worker pools (API-VALSHOOT-1, 6, 8, 9, API-NAME-5).
func workers(s *gardencorev1beta1.ShootSpec, where place, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(s.Provider.Workers))
	controlPlanes := 0
	for i := range s.Provider.Workers {
		w, here := &s.Provider.Workers[i], path.Index(i)
		errs = append(errs, worker(w, where, here)...)
		errs = append(errs, poolVersion(w, &s.Kubernetes, here)...)
		errs = append(errs, loneThreshold(w, where.stored, here)...)
		names = append(names, w.Name)
		if w.ControlPlane == nil {
			continue
		}
		if controlPlanes++; controlPlanes > 1 {
			errs = append(errs, field.Invalid(here.Child("controlPlane"), w.Name, "only one pool can run the control plane"))
		}
		errs = append(errs, controlPlanePool(w, where, s.Provider.Type, here)...)
	}
	errs = append(errs, forSystemComponents(s.Provider.Workers, path)...)
	return append(errs, duplicates(names, func(i int) *field.Path { return path.Index(i).Child("name") })...)
}

// forSystemComponents checks that a pool allows system components, and that such a pool can have a machine in each of its
// zones, over which the replicas are spread. If several pools have the same zones, one of them has to meet this
// (API-VALSHOOT-9).
func forSystemComponents(all []gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	enough, lacking, found := map[string]bool{}, map[string]int{}, false
	for i := range all {
		w := &all[i]
		if w.Maximum == 0 || !allowsSystemComponents(w) {
			continue
		}
		found = true
		zones := strings.Join(slices.Compact(slices.Sorted(slices.Values(w.Zones))), " ")
		if int(w.Maximum) >= len(w.Zones) {
			enough[zones] = true
		} else {
			lacking[zones] = i
		}
	}
	for _, zones := range slices.Sorted(maps.Keys(lacking)) {
		if i := lacking[zones]; !enough[zones] {
			message := fmt.Sprintf("must be at least %d, one machine for each zone", len(all[i].Zones))
			errs = append(errs, field.Forbidden(path.Index(i).Child("maximum"), message))
		}
	}
	if !found {
		errs = append(errs, field.Forbidden(path, "at least one pool with a maximum above 0 must allow system components"))
	}
	return errs
}

func allowsSystemComponents(w *gardencorev1beta1.Worker) bool {
	return w.SystemComponents == nil || w.SystemComponents.Allow
}

func worker(w *gardencorev1beta1.Worker, where place, path *field.Path) field.ErrorList {
	errs := label(w.Name, path.Child("name"))
	if len(w.Name) > maxPoolName {
		errs = append(errs, field.TooLong(path.Child("name"), w.Name, maxPoolName))
	}
	errs = append(errs, machine(&w.Machine, where, path.Child("machine"))...)
	errs = append(errs, scale(w, path)...)
	errs = append(errs, rollout(w, path)...)
	errs = append(errs, volumes(w, path)...)
	errs = append(errs, labels(w.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(w.Annotations, path.Child("annotations"))...)
	errs = append(errs, taints(w.Taints, path.Child("taints"))...)
	errs = append(errs, Sysctls(w.Sysctls, path.Child("sysctls"))...)
	errs = append(errs, machineSettings(w, path)...)
	return append(errs, duplicates(w.Zones, path.Child("zones").Index)...)
}

// machine checks the type and the image of the machines of a pool. In a shoot, admission plugins have already set their defaults.
func machine(m *gardencorev1beta1.Machine, where place, path *field.Path) field.ErrorList {
	errs := required(m.Type, path.Child("type"), "a machine type of the CloudProfile")
	if m.Architecture != nil {
		errs = append(errs, oneOf(*m.Architecture, path.Child("architecture"),
			gardencorev1beta1.ArchitectureAMD64, gardencorev1beta1.ArchitectureARM64)...)
	}
	if m.Image == nil {
		if !where.template {
			errs = append(errs, field.Required(path.Child("image"), "must name a machine image of the CloudProfile"))
		}
		return errs
	}
	errs = append(errs, required(m.Image.Name, path.Child("image", "name"), "a machine image of the CloudProfile")...)
	if !where.template {
		errs = append(errs, required(deref(m.Image.Version), path.Child("image", "version"), "a version of the machine image")...)
	}
	return errs
}

// controlPlanePool checks the pool that runs the control plane of its own shoot.
func controlPlanePool(w *gardencorev1beta1.Worker, where place, provider string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	here := path.Child("controlPlane")
	if where.namespace != gardencorev1beta1.NamespaceGarden {
		errs = append(errs, field.Forbidden(here, "shoots that run their own control plane are for namespace garden only"))
	}
	if w.Minimum != w.Maximum {
		errs = append(errs, field.Invalid(path.Child("minimum"), w.Minimum, "must be the same as maximum for the pool of the control plane"))
	}
	if b := w.ControlPlane.Backup; b != nil {
		errs = append(errs, required(b.Provider, here.Child("backup", "provider"), "the provider of the object store")...)
		if b.Provider != provider && deref(b.Region) == "" {
			errs = append(errs, field.Required(here.Child("backup", "region"), "must be given if the provider is not that of the shoot"))
		}
		errs = append(errs, reference(b.CredentialsRef, here.Child("backup", "credentialsRef"), "the credentials of the object store")...)
		if b.CredentialsRef != nil && !where.template && b.CredentialsRef.Namespace != where.namespace {
			errs = append(errs, field.Forbidden(here.Child("backup", "credentialsRef", "namespace"), "must be the namespace of the shoot"))
		}
	}
	e := w.ControlPlane.Exposure
	if e == nil {
		return errs
	}
	if e.DNS != nil && e.Extension != nil {
		errs = append(errs, field.Invalid(here.Child("exposure"), "dns and extension", "only one of them can be given"))
	}
	if e.Extension != nil {
		errs = append(errs, label(deref(e.Extension.Type), here.Child("exposure", "extension", "type"))...)
	}
	return errs
}

// Sysctls checks kernel settings. Their names are names of files, and each of them is to be one line of a file on machines.
func Sysctls(all map[string]string, path *field.Path) field.ErrorList {
	const (
		longestPath = 4096 - len("/proc/sys/")
		longestName = 255
	)
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(all)) {
		here := path.Child(key)
		if !isSysctl(key) {
			errs = append(errs, field.Invalid(here, key, "must consist of names of letters, digits, - _ and /, separated by dots, such as net.ipv4.ip_forward"))
		}
		if len(key) > longestPath {
			errs = append(errs, field.TooLong(here, key, longestPath))
		}
		for part := range strings.SplitSeq(key, ".") {
			if len(part) > longestName {
				errs = append(errs, field.Invalid(here, part, fmt.Sprintf("must be no longer than %d characters", longestName)))
			}
		}
		if all[key] == "" {
			errs = append(errs, field.Required(here, "must not be empty"))
		}
		if strings.ContainsFunc(all[key], unicode.IsControl) {
			errs = append(errs, field.Invalid(here, all[key], "must be a single line, because each line of the file is a separate setting"))
		}
	}
	return errs
}

// isSysctl reports whether a text is the name of a kernel setting. Each part but the last may be an asterisk or begin
// with a hyphen; the last one ends in a letter or a digit. It is no path of a file elsewhere.
func isSysctl(key string) bool {
	if strings.HasPrefix(strings.TrimPrefix(key, "-"), "/") || strings.Contains(key, "//") {
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	parts := strings.Split(key, ".")
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "*" && !last:
		case part == "" || strings.Trim(part, letters+"-_/") != "":
			return false
		case last && !strings.Contains(letters, part[len(part)-1:]):
			return false
		case !last && (part[0] == '_' || part[0] == '/'):
			return false
		}
	}
	return true
}

func scale(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if w.Minimum < 0 {
		errs = append(errs, field.Invalid(path.Child("minimum"), w.Minimum, "must not be negative"))
	}
	if w.Maximum < 0 {
		errs = append(errs, field.Invalid(path.Child("maximum"), w.Maximum, "must not be negative"))
	}
	if w.Maximum < w.Minimum {
		errs = append(errs, field.Forbidden(path.Child("maximum"), fmt.Sprintf("must not be below minimum %d", w.Minimum)))
	}
	return errs
}

// rollout checks how many machines are replaced at a time. Machines that are updated manually are not replaced.
func rollout(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	surge, unavailable := path.Child("maxSurge"), path.Child("maxUnavailable")
	errs := amount(w.MaxSurge, surge)
	errs = append(errs, amount(w.MaxUnavailable, unavailable)...)
	if deref(w.UpdateStrategy) == gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate {
		const message = "has no meaning for machines that are updated by hand"
		if w.MaxSurge != nil {
			errs = append(errs, field.Invalid(surge, w.MaxSurge.String(), message))
		}
		if w.MaxUnavailable != nil {
			errs = append(errs, field.Invalid(unavailable, w.MaxUnavailable.String(), message))
		}
		return errs
	}
	if zero(w.MaxSurge) && zero(w.MaxUnavailable) {
		errs = append(errs, field.Invalid(unavailable, "0", "must not be 0 together with maxSurge: no machine could ever be replaced"))
	}
	return errs
}

func zero(v *intstr.IntOrString) bool {
	return v != nil && (v.Type == intstr.Int && v.IntVal == 0 || v.Type == intstr.String && share100(v.StrVal) == 0)
}

// share100 returns the number in a percentage, or -1 if the value is not a percentage.
func share100(value string) int {
	digits, isPercentage := strings.CutSuffix(value, "%")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || !isPercentage {
		return -1
	}
	return int(n)
}

// amount checks that a value is a number or a percentage from 0% to 100%.
func amount(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	switch {
	case v == nil:
		return nil
	case v.Type == intstr.Int && v.IntVal < 0:
		return field.ErrorList{field.Invalid(path, v.IntVal, "must not be negative")}
	case v.Type == intstr.String && share100(v.StrVal) < 0:
		return field.ErrorList{field.Invalid(path, v.StrVal, "must be a number or a percentage such as 10%")}
	case v.Type == intstr.String && share100(v.StrVal) > hundred:
		return field.ErrorList{field.Invalid(path, v.StrVal, "must not be above 100%")}
	default:
		return nil
	}
}

func volumes(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if w.Volume != nil {
		errs = append(errs, volumeSize(w.Volume.Size, path.Child("volume", "size"))...)
		if w.Volume.Name != nil {
			errs = append(errs, volumeName(*w.Volume.Name, path.Child("volume", "name"))...)
		}
	}
	if len(w.DataVolumes) > 0 && w.Volume == nil {
		errs = append(errs, field.Required(path.Child("volume"), "data volumes require a root volume"))
	}
	names := make([]string, 0, len(w.DataVolumes))
	for i, v := range w.DataVolumes {
		here := path.Child("dataVolumes").Index(i)
		errs = append(errs, volumeName(v.Name, here.Child("name"))...)
		errs = append(errs, volumeSize(v.Size, here.Child("size"))...)
		names = append(names, v.Name)
	}
	if name := w.KubeletDataVolumeName; name != nil && !slices.Contains(names, *name) {
		errs = append(errs, field.Invalid(path.Child("kubeletDataVolumeName"), *name, "must name a data volume of the pool"))
	}
	return append(errs, duplicates(names, func(i int) *field.Path { return path.Child("dataVolumes").Index(i).Child("name") })...)
}

func volumeName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must name the volume")}
	}
	errs := label(name, path)
	if len(name) > maxVolumeName {
		errs = append(errs, field.TooLong(path, name, maxVolumeName))
	}
	return errs
}

func volumeSize(size string, path *field.Path) field.ErrorList {
	digits, ok := strings.CutSuffix(size, "Gi")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return field.ErrorList{field.Invalid(path, size, "must be a whole number of gibibytes such as 20Gi")}
	}
	if len(digits) > maxVolumeDigits {
		return field.ErrorList{field.TooLong(path, size, maxVolumeDigits+len("Gi"))}
	}
	return nil
}
