// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// deployment checks how a gardenlet runs in its seed.
func deployment(d *gardenseedmanagementv1alpha1.GardenletDeployment, path *field.Path) field.ErrorList {
	errs := check.NotNegative(d.ReplicaCount, path.Child("replicaCount"))
	errs = append(errs, check.NotNegative(d.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	if d.ServiceAccountName != nil {
		errs = append(errs, named(*d.ServiceAccountName, path.Child("serviceAccountName"), apivalidation.ValidateServiceAccountName)...)
	}
	if d.Image != nil {
		errs = append(errs, image(d.Image, path.Child("image"))...)
	}
	errs = append(errs, container(d, path)...)
	errs = append(errs, metav1validation.ValidateLabels(d.PodLabels, path.Child("podLabels"))...)
	return append(errs, apivalidation.ValidateAnnotations(d.PodAnnotations, path.Child("podAnnotations"))...)
}

// container checks the settings of the gardenlet's container as Kubernetes does.
func container(d *gardenseedmanagementv1alpha1.GardenletDeployment, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range d.Env {
		errs = append(errs, named(e.Name, path.Child("env").Index(i).Child("name"), func(name string, _ bool) []string {
			return utilvalidation.IsRelaxedEnvVarName(name)
		})...)
	}
	if d.Resources == nil {
		return errs
	}
	errs = append(errs, amounts(d.Resources.Requests, path.Child("resources", "requests"))...)
	return append(errs, amounts(d.Resources.Limits, path.Child("resources", "limits"))...)
}

func amounts(all corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if amount := all[name]; amount.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), amount.String(), "must not be negative"))
		}
	}
	return errs
}

func named(name string, path *field.Path, form apivalidation.ValidateNameFunc) field.ErrorList {
	var errs field.ErrorList
	for _, message := range form(name, false) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func image(i *gardenseedmanagementv1alpha1.Image, path *field.Path) field.ErrorList {
	errs := check.NotEmpty(i.Ref, path.Child("ref"))
	errs = append(errs, check.NotEmpty(i.Repository, path.Child("repository"))...)
	errs = append(errs, check.NotEmpty(i.Tag, path.Child("tag"))...)
	if i.PullPolicy != nil {
		errs = append(errs, check.OneOf(*i.PullPolicy, path.Child("pullPolicy"),
			corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	}
	return errs
}

// configuration decodes the configuration of a gardenlet, which may be newer or older than this server: unknown fields are
// ignored.
func configuration(
	raw runtime.RawExtension, path *field.Path,
) (*gardenconfigv1alpha1.GardenletConfiguration, field.ErrorList) {
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	if len(raw.Raw) == 0 {
		return config, nil
	}
	if err := json.Unmarshal(raw.Raw, config); err != nil {
		return config, field.ErrorList{field.Invalid(path, string(raw.Raw), "must be a GardenletConfiguration: "+err.Error())}
	}
	errs := check.OneOf(config.APIVersion, path.Child("apiVersion"), gardenconfigv1alpha1.GardenletGroupVersion.String())
	return config, append(errs, check.OneOf(config.Kind, path.Child("kind"), "GardenletConfiguration")...)
}
