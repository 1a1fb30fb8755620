// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

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

// machineImageVersion has either Image or Kubelets.
type machineImageVersion struct {
	Version string `json:"version"`
	// Image is a container image of which nobody says what kubelet it has. It is used for every version of Kubernetes.
	Image string `json:"image,omitempty"`
	// Kubelets are container images by the version of their kubelet. Another version of Kubernetes, also a patch, is another image.
	Kubelets []kubeletImage `json:"kubelets,omitempty"`
}

type kubeletImage struct {
	Version string `json:"version"`
	Image   string `json:"image"`
}

// containerImage returns the container image for the machine image of a pool and its version of Kubernetes. Without a provider configuration in
// the cloud profile, the fallback is used for every machine image.
func containerImage(profile *gardencorev1beta1.CloudProfile, pool *gardenextensionsv1alpha1.WorkerPool, fallback string) (string, error) {
	raw := profile.Spec.ProviderConfig
	if raw == nil || len(raw.Raw) == 0 {
		return fallback, nil
	}
	config, err := parse(raw.Raw)
	if err != nil {
		return "", fmt.Errorf("cloud profile %q: spec.providerConfig: %w", profile.Name, err)
	}
	for i := range config.MachineImages {
		if config.MachineImages[i].Name != pool.MachineImage.Name {
			continue
		}
		for j := range config.MachineImages[i].Versions {
			version := &config.MachineImages[i].Versions[j]
			if version.Version != pool.MachineImage.Version {
				continue
			}
			image, err := version.containerImage(ptr.Deref(pool.KubernetesVersion, ""))
			if err != nil {
				return "", fmt.Errorf("pool %q: cloud profile %q: spec.providerConfig.machineImages[%d].versions[%d]: machine image %q in version %q %w",
					pool.Name, profile.Name, i, j, pool.MachineImage.Name, version.Version, err)
			}
			return image, nil
		}
	}
	return "", fmt.Errorf("cloud profile %q: spec.providerConfig.machineImages: there is no container image for machine image %q in version %q",
		profile.Name, pool.MachineImage.Name, pool.MachineImage.Version)
}

func parse(raw []byte) (cloudProfileConfig, error) {
	config := cloudProfileConfig{}
	if err := yaml.UnmarshalStrict(raw, &config); err != nil {
		return cloudProfileConfig{}, err //nolint:wrapcheck // The caller says where it is.
	}
	if config.APIVersion != configAPIVersion || config.Kind != configKind {
		return cloudProfileConfig{}, fmt.Errorf("it is a %q of %q, not a %q of %q", config.Kind, config.APIVersion, configKind, configAPIVersion)
	}
	return config, nil
}

// containerImage returns the one with the wanted kubelet. The errors continue a sentence about the machine image.
func (v *machineImageVersion) containerImage(kubelet string) (string, error) {
	if err := v.validate(); err != nil {
		return "", err
	}
	if len(v.Kubelets) == 0 {
		return v.Image, nil
	}
	has := make([]string, 0, len(v.Kubelets))
	for _, k := range v.Kubelets {
		if k.Version == kubelet {
			return k.Image, nil
		}
		has = append(has, k.Version)
	}
	return "", fmt.Errorf("has kubelet %s and not %s, so no machine is replaced: have the operator of the garden add a container image with it under "+
		"kubelets, or choose for the pool a version of the machine image that has it", strings.Join(has, ", "), kubelet)
}

func (v *machineImageVersion) validate() error {
	if (v.Image == "") == (len(v.Kubelets) == 0) {
		return errors.New("needs either image or kubelets")
	}
	seen := map[string]bool{}
	for i, k := range v.Kubelets {
		if k.Version == "" || k.Image == "" {
			return fmt.Errorf("needs version and image in kubelets[%d]", i)
		}
		if seen[k.Version] || seen[k.Image] {
			return fmt.Errorf("has in kubelets[%d] the version or the image of an entry before: a container image has one kubelet", i)
		}
		seen[k.Version], seen[k.Image] = true, true
	}
	return nil
}
