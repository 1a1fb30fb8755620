// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// claimNamespace writes the name of the namespace into the spec before anything is created with it (GCM-PROJECT-5). The event of
// this write starts the next pass. A name that the server refuses is forgotten, because the write of the status that tells of it
// must contain nothing else.
func (r *Reconciler) claimNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.namespace() != "" {
		return kit.Continue(), nil
	}
	s.project.Spec.Namespace = new(NamespaceName(s.project))
	if err := s.commit.WriteObject(ctx); err != nil {
		s.project.Spec.Namespace = nil
		return kit.Stop(), err
	}
	return kit.Stop(), nil
}

// ensureNamespace creates the namespace (GCM-PROJECT-2) or adopts one that is labelled for this project (GCM-PROJECT-3,
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

// recheckNamespace is the time after which a namespace in deletion is checked again without an event (GCM-PROJECT-11).
const recheckNamespace = time.Minute

// waitForShoots stops while the namespace contains Shoots (GCM-PROJECT-10). The deletion of the last one starts the next pass.
func (r *Reconciler) waitForShoots(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.namespace() == "" {
		return kit.Continue(), nil
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.Reader.List(ctx, shoots, client.InNamespace(s.namespace())); err != nil {
		return kit.Stop(), fmt.Errorf("list shoots of namespace %q: %w", s.namespace(), err)
	}
	if len(shoots.Items) == 0 {
		return kit.Continue(), nil
	}
	names := make([]string, 0, len(shoots.Items))
	for i := range shoots.Items {
		names = append(names, shoots.Items[i].Name)
	}
	r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventNamespaceNotEmpty,
		fmt.Sprintf("Namespace %s still contains Shoots, delete them first: %s", s.namespace(), strings.Join(names, ", ")))
	return kit.Stop(), nil
}

// releaseNamespace deletes the namespace and waits for that, or removes the labels of a namespace that is to be kept
// (GCM-PROJECT-11).
func (r *Reconciler) releaseNamespace(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.namespace() == "" {
		return kit.Continue(), nil
	}
	namespace := &corev1.Namespace{}
	err := r.Reader.Get(ctx, client.ObjectKey{Name: s.namespace()}, namespace)
	if apierrors.IsNotFound(err) {
		return kit.Continue(), nil
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("read namespace %q: %w", s.namespace(), err)
	}
	switch FateOf(namespace, s.project) {
	case Foreign:
		return kit.Continue(), r.changeNamespace(ctx, s, namespace, Disclaim)
	case Kept:
		return kit.Continue(), r.changeNamespace(ctx, s, namespace, Disown)
	default:
		return kit.RequeueAfter(recheckNamespace), r.deleteNamespace(ctx, s, namespace)
	}
}

func (r *Reconciler) changeNamespace(ctx context.Context, s *scope, namespace *corev1.Namespace, change func(*corev1.Namespace, *gardencorev1beta1.Project)) error {
	commit := kit.Begin(r.Client, namespace)
	change(namespace, s.project)
	return commit.WriteObject(ctx)
}

func (r *Reconciler) deleteNamespace(ctx context.Context, s *scope, namespace *corev1.Namespace) error {
	if namespace.DeletionTimestamp != nil {
		return nil
	}
	if err := r.Client.Delete(ctx, namespace, client.Preconditions{UID: &namespace.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete namespace %q: %w", namespace.Name, err)
	}
	r.event(s, corev1.EventTypeNormal, gardencorev1beta1.EventNamespaceMarkedForDeletion, "Namespace "+namespace.Name+" is being deleted")
	return nil
}
