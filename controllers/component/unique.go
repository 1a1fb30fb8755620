// SPDX-License-Identifier: Apache-2.0

package component

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// Unique makes a Secret immutable, ends its name with a hash of its content, and leaves its deletion to the garbage collector. So a
// pod that is replaced never sees the content of its successor. What uses it has to Refer to it (GRM-GC-5).
func Unique(secret *corev1.Secret) *corev1.Secret {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		for _, part := range [][]byte{[]byte(key), secret.Data[key]} {
			h.Write(part)
			h.Write([]byte{0})
		}
	}
	secret.Name += "-" + hex.EncodeToString(h.Sum(nil))[:8]
	secret.Immutable = new(true)
	secret.Labels = maps.Clone(secret.Labels)
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[gardenresourcesv1alpha1.LabelGarbageCollectable] = "true"
	return secret
}

// Refer tells the garbage collector that a Deployment and its pods use objects. It counts also while there are no pods (GRM-GC-5).
func Refer(deployment *appsv1.Deployment, used ...*corev1.Secret) {
	for _, object := range used {
		key, name := Reference(object)
		for _, annotations := range []*map[string]string{&deployment.Annotations, &deployment.Spec.Template.Annotations} {
			*annotations = maps.Clone(*annotations)
			if *annotations == nil {
				*annotations = map[string]string{}
			}
			(*annotations)[key] = name
		}
	}
}

// Reference is the annotation for the use of an object.
func Reference(secret *corev1.Secret) (key, name string) {
	sum := sha256.Sum256([]byte(secret.Name))
	return gardencorev1beta1.AnnotationPrefixReference + "secret-" + hex.EncodeToString(sum[:])[:8], secret.Name
}
