// SPDX-License-Identifier: Apache-2.0

// Package shootaccess says how programs in the seed reach the API server of a shoot. Each has a service account in the shoot, and a
// Secret in the namespace of the control plane, for which the resource manager requests tokens of that account. Where the server is and
// how to verify it says the generic kubeconfig, which all programs share and which holds no secret (EXT-SEC-1).
package shootaccess

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// ResourceManager is the service account of the resource manager in a shoot.
	ResourceManager = "gardener-resource-manager"
	// KubeconfigFile is the path of the generic kubeconfig in a pod with the Volume.
	KubeconfigFile = Dir + "/" + gardencorev1beta1.DataKeyKubeconfig
	// Dir is where a pod mounts the Volume.
	Dir = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig"
)

// SecretName is the name of the Secret with the token of a program.
func SecretName(program string) string { return "shoot-access-" + program }

// TokenSecret asks for a token of a service account of the shoot in the namespace kube-system. The account is made with the first token
// and has no rights by itself.
func TokenSecret(namespace, name, account string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{
				gardenresourcesv1alpha1.LabelPurpose: gardenresourcesv1alpha1.PurposeTokenRequestor,
				gardenresourcesv1alpha1.LabelClass:   gardenresourcesv1alpha1.ClassShoot,
			},
			Annotations: map[string]string{
				gardenresourcesv1alpha1.AnnotationServiceAccountName:      account,
				gardenresourcesv1alpha1.AnnotationServiceAccountNamespace: metav1.NamespaceSystem,
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
}

// Program asks for the token of a program, whose service account has its name.
func Program(namespace, program string) *corev1.Secret {
	return TokenSecret(namespace, SecretName(program), program)
}

// Due reports whether a token has to be renewed before anybody can rely on it.
func Due(secret *corev1.Secret, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp])

	return err != nil || !now.Before(at)
}

// GenericKubeconfig is the kubeconfig that all programs share. It reads the token from a file beside it.
func GenericKubeconfig(namespace, server string, ca []byte) (*corev1.Secret, error) {
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: namespace, Server: server, CA: ca, TokenFile: Dir + "/" + gardenresourcesv1alpha1.DataKeyToken,
	})
	if err != nil {
		return nil, err
	}

	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gardencorev1beta1.SecretGenericTokenKubeconfig},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig},
	}, nil
}

// Volume holds the generic kubeconfig and the token of a program. A pod mounts it at Dir, read-only.
func Volume(name, program string) corev1.Volume {
	file := func(secret, key string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: []corev1.KeyToPath{{Key: key, Path: key}}, Optional: new(false),
		}}
	}

	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(0o440)),
		Sources: []corev1.VolumeProjection{
			file(gardencorev1beta1.SecretGenericTokenKubeconfig, gardencorev1beta1.DataKeyKubeconfig),
			file(SecretName(program), gardenresourcesv1alpha1.DataKeyToken),
		},
	}}}
}
