// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// recheckNamespace is how soon a namespace that is being emptied is looked at without an event (GCM-PROJECT-11).
const recheckNamespace = time.Minute

// waitForShoots stops while the namespace contains Shoots (GCM-PROJECT-10). The event of the last one that goes starts the
// next pass.
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

// releaseNamespace is GCM-PROJECT-11.
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
		return kit.Continue(), nil
	case Kept:
		return kit.Continue(), r.keepNamespace(ctx, s, namespace)
	default:
		return kit.RequeueAfter(recheckNamespace), r.deleteNamespace(ctx, s, namespace)
	}
}

func (r *Reconciler) keepNamespace(ctx context.Context, s *scope, namespace *corev1.Namespace) error {
	before := namespace.DeepCopy()
	Disown(namespace)
	if err := controllerutil.RemoveControllerReference(s.project, namespace, r.Client.Scheme()); err != nil {
		return fmt.Errorf("disown namespace %q: %w", namespace.Name, err)
	}
	if err := r.Client.Patch(ctx, namespace, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("release namespace %q: %w", namespace.Name, err)
	}
	return nil
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
