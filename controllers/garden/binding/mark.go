// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const marked = "true"

// Mark holds credentials that a binding names and labels them for each of its providers. What is being deleted gets no new
// finalizer: the server would refuse it.
func (k Kind) Mark(credentials *metav1.PartialObjectMetadata, binding Binding) {
	if credentials.DeletionTimestamp == nil {
		controllerutil.AddFinalizer(credentials, k.Finalizer)
	}
	label(credentials, k.Label)
	for _, provider := range binding.Providers {
		label(credentials, gardencorev1beta1.LabelPrefixShootProvider+provider)
	}
}

// Unmark undoes Mark, but leaves the labels of providers that are needed by others.
func (k Kind) Unmark(credentials *metav1.PartialObjectMetadata, needed []string) {
	controllerutil.RemoveFinalizer(credentials, k.Finalizer)
	delete(credentials.Labels, k.Label)
	maps.DeleteFunc(credentials.Labels, func(key, _ string) bool {
		provider, found := strings.CutPrefix(key, gardencorev1beta1.LabelPrefixShootProvider)
		return found && !slices.Contains(needed, provider)
	})
}

func label(object *metav1.PartialObjectMetadata, key string) {
	metav1.SetMetaDataLabel(&object.ObjectMeta, key, marked)
}
