// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Labels of an installation. The gardenlet installs again when one changes.
const (
	labelRegistrationHash = "registration-spec-hash"
	labelSeedHash         = "seed-spec-hash"
	labelDeploymentHash   = "deployment-hash"
)

const hashLength = 16

// Fill sets the labels, annotations and references that an installation of the target on the seed should have (GCM-CR-7).
//
// The resource version of the seed is updated only together with its hash, because a seed changes with every heartbeat and a
// changed installation is installed again.
func Fill(installation *gardencorev1beta1.ControllerInstallation, target Target, seed *gardencorev1beta1.Seed) error {
	hashes, err := hashesOf(target, seed)
	if err != nil {
		return err
	}
	before := installation.DeepCopy()
	if installation.Labels == nil {
		installation.Labels = map[string]string{}
	}
	delete(installation.Labels, labelDeploymentHash)
	maps.Copy(installation.Labels, hashes)
	mirror(installation, target.Registration)

	spec := &installation.Spec
	spec.RegistrationRef = corev1.ObjectReference{Name: target.Registration.Name, ResourceVersion: target.Registration.ResourceVersion}
	spec.DeploymentRef = nil
	if target.Deployment != nil {
		spec.DeploymentRef = &corev1.ObjectReference{Name: target.Deployment.Name, ResourceVersion: target.Deployment.ResourceVersion}
	}
	if spec.SeedRef == nil || before.Labels[labelSeedHash] != installation.Labels[labelSeedHash] {
		spec.SeedRef = &corev1.ObjectReference{Name: seed.Name, ResourceVersion: seed.ResourceVersion}
	}
	return nil
}

// mirror copies the annotation for the pod security level of the extension's namespace, or removes it.
func mirror(installation *gardencorev1beta1.ControllerInstallation, registration *gardencorev1beta1.ControllerRegistration) {
	level, found := registration.Annotations[gardencorev1beta1.AnnotationPodSecurityEnforce]
	if !found {
		delete(installation.Annotations, gardencorev1beta1.AnnotationPodSecurityEnforce)
		return
	}
	metav1.SetMetaDataAnnotation(&installation.ObjectMeta, gardencorev1beta1.AnnotationPodSecurityEnforce, level)
}

func hashesOf(target Target, seed *gardencorev1beta1.Seed) (map[string]string, error) {
	parts := map[string]any{labelRegistrationHash: target.Registration.Spec, labelSeedHash: seed.Spec}
	if deployment := target.Deployment; deployment != nil {
		parts[labelDeploymentHash] = []any{deployment.Type, deployment.ProviderConfig, deployment.InjectGardenKubeconfig}
	}
	hashes := make(map[string]string, len(parts))
	for label, part := range parts {
		data, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("hash for label %q: %w", label, err)
		}
		sum := sha256.Sum256(data)
		hashes[label] = hex.EncodeToString(sum[:])[:hashLength]
	}
	return hashes, nil
}
