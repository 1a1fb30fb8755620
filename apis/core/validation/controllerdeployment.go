// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateControllerDeployment checks a new ControllerDeployment (API-VALCD-1).
func ValidateControllerDeployment(d *gardencorev1.ControllerDeployment) field.ErrorList {
	return append(metadata(d, false, apivalidation.NameIsDNSLabel), controllerDeployment(d)...)
}

// ValidateControllerDeploymentUpdate checks an updated ControllerDeployment (API-VALCD-1).
func ValidateControllerDeploymentUpdate(d, old *gardencorev1.ControllerDeployment) field.ErrorList {
	return append(metadataUpdate(d, old), controllerDeployment(d)...)
}

// controllerDeployment checks that exactly one way of installation is given: a chart, or in v1beta1 another type that a
// third party installs.
func controllerDeployment(d *gardencorev1.ControllerDeployment) field.ErrorList {
	other, config := d.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentType], d.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig]
	annotations := field.NewPath("metadata", "annotations")
	typePath := annotations.Key(gardencorev1beta1.AnnotationMigrationControllerDeploymentType)
	configPath := annotations.Key(gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig)
	var errs field.ErrorList
	switch {
	case d.Helm == nil && other == "":
		errs = append(errs, field.Required(field.NewPath("helm"), "must say how the extension is installed: by a chart, or in v1beta1 by another type"))
	case d.Helm != nil && other != "":
		errs = append(errs, field.Forbidden(typePath, "must not be set together with a chart"))
	case other == gardencorev1.TypeHelm:
		errs = append(errs, field.Invalid(typePath, other, "must not be the type of charts, which are given in helm"))
	}
	switch {
	case d.Helm != nil && config != "":
		errs = append(errs, field.Forbidden(configPath, "must not be set together with a chart"))
	case config != "" && !json.Valid([]byte(config)):
		errs = append(errs, field.Invalid(configPath, config, "must be JSON"))
	}
	if d.Helm != nil {
		errs = append(errs, helm(d.Helm, field.NewPath("helm"))...)
	}
	return append(errs, resources(d.Resources, field.NewPath("resources"))...)
}

func helm(h *gardencorev1.HelmControllerDeployment, path *field.Path) field.ErrorList {
	switch {
	case len(h.RawChart) > 0 && h.OCIRepository != nil:
		return append(field.ErrorList{field.Required(path, "must hold either the chart in rawChart or its place in ociRepository, not both")},
			ValidateOCIRepository(h.OCIRepository, path.Child("ociRepository"))...)
	case h.OCIRepository != nil:
		return ValidateOCIRepository(h.OCIRepository, path.Child("ociRepository"))
	case len(h.RawChart) == 0:
		return field.ErrorList{field.Required(path, "must hold the chart in rawChart or name it in ociRepository")}
	default:
		return nil
	}
}

// ValidateOCIRepository checks that an artifact is named by ref alone, or by repository with tag, digest or both
// (API-VALCD-1).
func ValidateOCIRepository(o *gardencorev1.OCIRepository, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.PullSecretRef != nil {
		errs = append(errs, required(o.PullSecretRef.Name, path.Child("pullSecretRef", "name"), "a Secret")...)
	}
	if o.CABundleSecretRef != nil {
		errs = append(errs, required(o.CABundleSecretRef.Name, path.Child("caBundleSecretRef", "name"), "a Secret")...)
	}
	ref, repository, tag, digest := deref(o.Ref), deref(o.Repository), deref(o.Tag), deref(o.Digest)
	switch {
	case ref == "" && repository == "":
		return append(errs, field.Required(path, "must name an artifact in ref or in repository"))
	case o.Ref != nil:
		for _, one := range []setting{{"repository", repository != ""}, {"tag", tag != ""}, {"digest", digest != ""}} {
			if one.given {
				errs = append(errs, field.Forbidden(path.Child(one.name), "must not be set together with ref"))
			}
		}
		return errs
	}
	if tag == "" && digest == "" {
		errs = append(errs, field.Required(path, "must name a version of the artifact in tag or in digest"))
	}
	if o.Digest != nil && !strings.HasPrefix(digest, "sha256:") {
		errs = append(errs, field.Invalid(path.Child("digest"), digest, `must start with "sha256:"`))
	}
	return errs
}

func resources(all []gardencorev1.NamedResourceReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, r := range all {
		ref := path.Index(i).Child("resourceRef")
		names = append(names, r.Name)
		errs = append(errs, required(r.Name, path.Index(i).Child("name"), "the reference")...)
		errs = append(errs, secretOrConfigMap(r.ResourceRef, ref)...)
	}
	return append(errs, duplicates(names, func(i int) *field.Path { return path.Index(i).Child("name") })...)
}
