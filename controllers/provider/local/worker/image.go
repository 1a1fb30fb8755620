// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bytes"
	"encoding/json"
	"fmt"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	configAPIVersion = "local.provider.extensions.gardener.cloud/v1alpha1"
	configKind       = "CloudProfileConfig"
)

// cloudProfileConfig is the provider configuration of cloud profiles of type local.
type cloudProfileConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// MachineImages maps machine images to container images.
	MachineImages []machineImage `json:"machineImages"`
}

type machineImage struct {
	Name     string                `json:"name"`
	Versions []machineImageVersion `json:"versions"`
}

type machineImageVersion struct {
	Version string `json:"version"`
	Image   string `json:"image"`
}

// containerImage returns the container image for a machine image. Without a provider configuration in the cloud profile, the fallback is
// used for every machine image.
func containerImage(profile *gardencorev1beta1.CloudProfile, image gardenextensionsv1alpha1.MachineImage, fallback string) (string, error) {
	raw := profile.Spec.ProviderConfig
	if raw == nil || len(raw.Raw) == 0 {
		return fallback, nil
	}
	config := cloudProfileConfig{}
	decoder := json.NewDecoder(bytes.NewReader(raw.Raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return "", fmt.Errorf("cloud profile %q: spec.providerConfig: %w", profile.Name, err)
	}
	if config.APIVersion != configAPIVersion || config.Kind != configKind {
		return "", fmt.Errorf("cloud profile %q: spec.providerConfig: it is a %q of %q, not a %q of %q",
			profile.Name, config.Kind, config.APIVersion, configKind, configAPIVersion)
	}
	for _, candidate := range config.MachineImages {
		if candidate.Name != image.Name {
			continue
		}
		for _, version := range candidate.Versions {
			if version.Version == image.Version {
				return version.Image, nil
			}
		}
	}
	return "", fmt.Errorf("cloud profile %q: spec.providerConfig.machineImages: there is no container image for machine image %q in version %q",
		profile.Name, image.Name, image.Version)
}
