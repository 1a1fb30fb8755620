// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	maxPoolName   = 15
	maxVolumeName = 15
	minPriority   = -1
)

// workers checks the worker pools (API-VALSHOOT-1, 6, 8, 9, API-NAME-5).
func workers(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(s.Provider.Workers))
	systemComponents := false
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		errs = append(errs, worker(w, path.Index(i))...)
		errs = append(errs, poolVersion(w, s.Kubernetes.Version, path.Index(i))...)
		names = append(names, w.Name)
		if w.Maximum > 0 && allowsSystemComponents(w) {
			systemComponents = true
		}
	}
	if !systemComponents {
		errs = append(errs, field.Forbidden(path, "at least one pool with a maximum above 0 must allow system components"))
	}
	return append(errs, duplicates(names, path.Index)...)
}

func allowsSystemComponents(w *gardencorev1beta1.Worker) bool {
	return w.SystemComponents == nil || w.SystemComponents.Allow
}

func worker(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	errs := label(w.Name, path.Child("name"))
	if len(w.Name) > maxPoolName {
		errs = append(errs, field.TooLong(path.Child("name"), w.Name, maxPoolName))
	}
	errs = append(errs, required(w.Machine.Type, path.Child("machine", "type"), "a machine type of the CloudProfile")...)
	if w.Machine.Image != nil {
		errs = append(errs, required(w.Machine.Image.Name, path.Child("machine", "image", "name"), "a machine image of the CloudProfile")...)
	}
	errs = append(errs, scale(w, path)...)
	errs = append(errs, rollout(w, path)...)
	errs = append(errs, volumes(w, path)...)
	errs = append(errs, metav1validation.ValidateLabels(w.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(w.Annotations, path.Child("annotations"))...)
	errs = append(errs, taints(w.Taints, path.Child("taints"))...)
	errs = append(errs, machineSettings(w, path)...)
	if zones := len(w.Zones); zones > int(w.Maximum) && w.Maximum > 0 && allowsSystemComponents(w) {
		message := fmt.Sprintf("must be at least %d, one machine for each zone", zones)
		errs = append(errs, field.Invalid(path.Child("maximum"), w.Maximum, message))
	}
	return append(errs, duplicates(w.Zones, path.Child("zones").Index)...)
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
		errs = append(errs, field.Invalid(path.Child("maximum"), w.Maximum, fmt.Sprintf("must not be below minimum %d", w.Minimum)))
	}
	return errs
}

func rollout(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	errs := amount(w.MaxSurge, path.Child("maxSurge"))
	errs = append(errs, amount(w.MaxUnavailable, path.Child("maxUnavailable"))...)
	if zero(w.MaxSurge) && zero(w.MaxUnavailable) {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), "0", "must not be 0 together with maxSurge: no machine could ever be replaced"))
	}
	return errs
}

func zero(v *intstr.IntOrString) bool {
	return v != nil && (v.Type == intstr.Int && v.IntVal == 0 || v.Type == intstr.String && (v.StrVal == "0" || v.StrVal == "0%"))
}

// amount accepts a number or a percentage up to 100 %.
func amount(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	if v.Type == intstr.Int {
		if v.IntVal < 0 {
			return field.ErrorList{field.Invalid(path, v.IntVal, "must not be negative")}
		}
		return nil
	}
	digits, isPercentage := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || !isPercentage || n < 0 || n > 100 {
		return field.ErrorList{field.Invalid(path, v.StrVal, "must be a number or a percentage from 0% to 100%")}
	}
	return nil
}

func volumes(w *gardencorev1beta1.Worker, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if w.Volume != nil {
		errs = append(errs, volumeSize(w.Volume.Size, path.Child("volume", "size"))...)
	}
	if len(w.DataVolumes) > 0 && w.Volume == nil {
		errs = append(errs, field.Required(path.Child("volume"), "data volumes need a root volume beside them"))
	}
	names := make([]string, 0, len(w.DataVolumes))
	for i, v := range w.DataVolumes {
		here := path.Child("dataVolumes").Index(i)
		errs = append(errs, label(v.Name, here.Child("name"))...)
		if len(v.Name) > maxVolumeName {
			errs = append(errs, field.TooLong(here.Child("name"), v.Name, maxVolumeName))
		}
		errs = append(errs, volumeSize(v.Size, here.Child("size"))...)
		names = append(names, v.Name)
	}
	if name := w.KubeletDataVolumeName; name != nil && !slices.Contains(names, *name) {
		errs = append(errs, field.Invalid(path.Child("kubeletDataVolumeName"), *name, "must name a data volume of the pool"))
	}
	return append(errs, duplicates(names, path.Child("dataVolumes").Index)...)
}

func volumeSize(size string, path *field.Path) field.ErrorList {
	digits, ok := strings.CutSuffix(size, "Gi")
	if ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, size, "must be a whole number of gibibytes such as 20Gi")}
}
