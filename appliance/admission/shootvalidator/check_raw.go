// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// checkRaw rejects provider-specific sections in a version that no extension serves (API-SVAL-11).
func checkRaw(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	errs := notInternal(s.Provider.InfrastructureConfig, path.Child("provider", "infrastructureConfig"))
	errs = append(errs, notInternal(s.Provider.ControlPlaneConfig, path.Child("provider", "controlPlaneConfig"))...)
	if s.Networking != nil {
		errs = append(errs, notInternal(s.Networking.ProviderConfig, path.Child("networking", "providerConfig"))...)
	}
	for i, e := range s.Extensions {
		errs = append(errs, notInternal(e.ProviderConfig, path.Child("extensions").Index(i).Child("providerConfig"))...)
	}
	for i := range s.Provider.Workers {
		w, here := &s.Provider.Workers[i], path.Child("provider", "workers").Index(i)
		errs = append(errs, notInternal(w.ProviderConfig, here.Child("providerConfig"))...)
		if w.Machine.Image != nil {
			errs = append(errs, notInternal(w.Machine.Image.ProviderConfig, here.Child("machine", "image", "providerConfig"))...)
		}
		if w.CRI == nil {
			continue
		}
		for j, r := range w.CRI.ContainerRuntimes {
			errs = append(errs, notInternal(r.ProviderConfig, here.Child("cri", "containerRuntimes").Index(j).Child("providerConfig"))...)
		}
	}
	return errs
}

func notInternal(raw *runtime.RawExtension, path *field.Path) field.ErrorList {
	if raw == nil {
		return nil
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(raw.Raw, &meta); err != nil || meta.GroupVersionKind().Version != runtime.APIVersionInternal {
		return nil // The extension validates the content of the section.
	}
	return field.ErrorList{field.Invalid(path.Child("apiVersion"), meta.APIVersion, "must be a version that the extension serves")}
}
