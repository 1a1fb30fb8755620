// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// read reads the manifests. One that cannot be decoded does not stop the others (GRM-APPLY-1).
func (r *Reconciler) read(ctx context.Context, s *scope) (kit.Outcome, error) {
	secrets := make([]*corev1.Secret, 0, len(s.mr.Spec.SecretRefs))
	for _, ref := range s.mr.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := r.Reader.Get(ctx, client.ObjectKey{Namespace: s.mr.Namespace, Name: ref.Name}, secret); err != nil {
			return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonCannotReadSecret, fmt.Errorf("get Secret %q: %w", ref.Name, err))
		}
		secrets = append(secrets, secret)
	}
	s.bundle = Decode(secrets...)
	scopes := definedScopes(s.bundle.Objects)
	for _, object := range sortForApply(s.bundle.Objects) {
		if err := place(s.cluster, scopes, object); err != nil {
			return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonApplyFailed, err)
		}
		if object.GetAnnotations()[gardenresourcesv1alpha1.AnnotationMode] == gardenresourcesv1alpha1.ModeIgnore {
			s.left = append(s.left, object)
			continue
		}
		s.wanted = append(s.wanted, object)
	}
	return kit.Continue(), nil
}

// place gives namespaced objects without a namespace the default one, and takes it from those that have none (GRM-APPLY-2).
func place(cluster client.Client, scopes map[schema.GroupKind]bool, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind().GroupKind()
	namespaced, known := scopes[kind]
	if !known {
		var err error
		namespaced, err = cluster.IsObjectNamespaced(object)
		if meta.IsNoMatchError(err) {
			namespaced, err = kind != corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind(), nil
		}
		if err != nil {
			return fmt.Errorf("find out whether %s has a namespace: %w", describe(referenceOf(object)), err)
		}
	}
	if !namespaced {
		object.SetNamespace("")
	} else if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	return nil
}
