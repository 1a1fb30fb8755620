// SPDX-License-Identifier: Apache-2.0

package inuse

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile adds the finalizer to a live object and takes it from a deleted one that nobody references.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.Protection.New()
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() == nil {
		return kit.Result(kit.Stop(), r.hold(ctx, object))
	}
	if !controllerutil.ContainsFinalizer(object, r.Protection.Finalizer) {
		return reconcile.Result{}, nil
	}
	return kit.Result(kit.Stop(), r.release(ctx, object))
}

func (r *Reconciler) hold(ctx context.Context, object client.Object) error {
	if err := kit.EnsureFinalizer(ctx, r.Client, object, r.Protection.Finalizer); err != nil {
		return err
	}
	if r.Protection.Hold == nil {
		return nil
	}
	return r.Protection.Hold(ctx, World{Client: r.Client, Reader: r.Reader}, object)
}

func (r *Reconciler) release(ctx context.Context, object client.Object) error {
	references, err := r.Protection.References(ctx, r.Reader, object)
	if err != nil {
		return fmt.Errorf("look for references to %q: %w", object.GetName(), err)
	}
	if len(references) == 0 {
		if r.Protection.Free != nil {
			if err := r.Protection.Free(ctx, World{Client: r.Client, Reader: r.Reader}, object); err != nil {
				return err
			}
		}
		return kit.DropFinalizer(ctx, r.Client, object, r.Protection.Finalizer)
	}
	by := strings.Join(references, ", ")
	kit.Record(r.Recorder, object, kit.Notice{
		Type: r.Protection.EventType, Reason: gardencorev1beta1.EventResourceReferenced,
		Action: gardencorev1beta1.EventActionDelete, Message: "Deletion waits: still referenced by " + by,
	})
	return fmt.Errorf("release %q: still referenced by %s", object.GetName(), by)
}
