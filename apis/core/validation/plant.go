// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/url"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidatePlant checks a new Plant.
func ValidatePlant(p *gardencorev1beta1.Plant) field.ErrorList {
	return append(metadata(p, true, apivalidation.NameIsDNSLabel), plantSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidatePlantUpdate checks an updated Plant.
func ValidatePlantUpdate(p, old *gardencorev1beta1.Plant) field.ErrorList {
	errs := append(metadataUpdate(p, old), frozen(p, p.Spec, old.Spec)...)
	return append(errs, plantSpec(&p.Spec, field.NewPath("spec"))...)
}

func plantSpec(s *gardencorev1beta1.PlantSpec, path *field.Path) field.ErrorList {
	errs := required(s.SecretRef.Name, path.Child("secretRef", "name"), "the Secret with the kubeconfig")
	names := make([]string, 0, len(s.Endpoints))
	for i, e := range s.Endpoints {
		here := path.Child("endpoints").Index(i)
		names = append(names, e.Name)
		errs = append(errs, required(e.Name, here.Child("name"), "the endpoint")...)
		errs = append(errs, required(e.Purpose, here.Child("purpose"), "what the endpoint is for")...)
		if parsed, err := url.Parse(e.URL); err != nil || parsed.Host == "" {
			errs = append(errs, field.Invalid(here.Child("url"), e.URL, "must be a URL such as https://dashboard.example.com"))
		}
	}
	return append(errs, duplicates(names, path.Child("endpoints").Index)...)
}
