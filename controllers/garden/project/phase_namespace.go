// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// claimNamespace writes the name into the spec before anything is made under it (GCM-PROJECT-5). The write comes back
// as an event, which goes on.
func (r *Reconciler) claimNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.namespace() != "" {
		return kit.Continue(), nil
	}
	s.project.Spec.Namespace = new(NamespaceName(s.project))
	return kit.Stop(), s.commit.WriteObject(ctx)
}

// ensureNamespace creates the namespace (GCM-PROJECT-2) or adopts one that is meant for this project (GCM-PROJECT-3,
// GCM-PROJECT-4).
func (r *Reconciler) ensureNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	namespace := &corev1.Namespace{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: s.namespace()}, namespace)
	if apierrors.IsNotFound(err) {
		return kit.Continue(), r.createNamespace(ctx, s)
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("read namespace %q: %w", s.namespace(), err)
	}
	if namespace.DeletionTimestamp != nil {
		return kit.Stop(), fmt.Errorf("use namespace %q: it is being deleted", namespace.Name)
	}
	before := namespace.DeepCopy()
	if err := Adopt(namespace, s.project); err != nil {
		return kit.Stop(), err
	}
	if err := controllerutil.SetControllerReference(s.project, namespace, r.Client.Scheme()); err != nil {
		return kit.Stop(), fmt.Errorf("own namespace %q: %w", namespace.Name, err)
	}
	if equality.Semantic.DeepEqual(before, namespace) {
		return kit.Continue(), nil
	}
	if err := r.Client.Patch(ctx, namespace, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return kit.Stop(), fmt.Errorf("adopt namespace %q: %w", namespace.Name, err)
	}
	s.changed = true
	return kit.Continue(), nil
}

func (r *Reconciler) createNamespace(ctx context.Context, s *scope) error {
	namespace := NewNamespace(s.project)
	if err := controllerutil.SetControllerReference(s.project, namespace, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own namespace %q: %w", namespace.Name, err)
	}
	if err := r.Client.Create(ctx, namespace); err != nil {
		return fmt.Errorf("create namespace %q: %w", namespace.Name, err)
	}
	s.changed = true
	return nil
}
