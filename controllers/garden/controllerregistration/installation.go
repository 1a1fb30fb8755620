// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Labels of an installation. The gardenlet installs again when a hash changes. An installation on a seed names it in a label, by which those of
// seeds are told from those of self-hosted shoots (GCM-CR-10).
const (
	labelRegistrationHash = "registration-spec-hash"
	labelSeedHash         = "seed-spec-hash"
	labelShootHash        = "shoot-spec-hash"
	labelDeploymentHash   = "deployment-hash"
	labelSeed             = "seed-ref-name"
)

const hashLength = 16

// Fill sets the labels, annotations and references that an installation of the target in a cluster should have (GCM-CR-7).
func Fill(installation *gardencorev1beta1.ControllerInstallation, target Target, place Place) error {
	if installation.Labels == nil {
		installation.Labels = map[string]string{}
	}
	mirror(installation, target.Registration)
	spec := &installation.Spec
	spec.RegistrationRef = corev1.ObjectReference{Name: target.Registration.Name, ResourceVersion: target.Registration.ResourceVersion}
	if _, err := hash(installation, labelRegistrationHash, target.Registration.Spec); err != nil {
		return err
	}
	if err := deploy(installation, target.Deployment); err != nil {
		return err
	}
	return place.refer(installation)
}

// deploy says how to install, or that nothing says so.
func deploy(installation *gardencorev1beta1.ControllerInstallation, deployment *gardencorev1beta1.ControllerDeployment) error {
	if deployment == nil {
		delete(installation.Labels, labelDeploymentHash)
		installation.Spec.DeploymentRef = nil
		return nil
	}
	installation.Spec.DeploymentRef = &corev1.ObjectReference{Name: deployment.Name, ResourceVersion: deployment.ResourceVersion}
	_, err := hash(installation, labelDeploymentHash, []any{deployment.Type, deployment.ProviderConfig, deployment.InjectGardenKubeconfig})
	return err
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

// hash sets the label to the hash of a part, and reports whether it was another one.
func hash(installation *gardencorev1beta1.ControllerInstallation, label string, part any) (changed bool, err error) {
	data, err := json.Marshal(part)
	if err != nil {
		return false, fmt.Errorf("hash for label %q: %w", label, err)
	}
	sum := sha256.Sum256(data)
	value := hex.EncodeToString(sum[:])[:hashLength]
	changed = installation.Labels[label] != value
	installation.Labels[label] = value
	return changed, nil
}
