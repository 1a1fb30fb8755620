// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// pass is one run on an object.
type pass[T gardenextensionsv1alpha1.Object] struct {
	r *Reconciler[T]
	// run writes the progress into the status of the object. Actors change the same object, and their changes are written with it.
	run     *operation.Operation[T]
	object  T
	cluster *Cluster
}

func (p *pass[T]) operate(ctx context.Context, kind gardencorev1beta1.LastOperationType) error {
	switch kind {
	case gardencorev1beta1.LastOperationTypeMigrate:
		return p.migrate(ctx)
	case gardencorev1beta1.LastOperationTypeDelete:
		return p.delete(ctx)
	case gardencorev1beta1.LastOperationTypeRestore:
		return p.restore(ctx)
	default:
		if Migrated(p.object) {
			return nil
		}
		return p.reconcile(ctx, kind)
	}
}

// hold keeps the object until what the actor makes is removed again. It comes before everything else that is written (EXT-CTRL-2).
func (p *pass[T]) hold(ctx context.Context) error {
	return p.run.Update(ctx, func(object T) { controllerutil.AddFinalizer(object, p.r.Finalizer) })
}

// reconcile removes the annotation before it acts, so that a request made in the meantime is not lost. The operation is in the
// status before, so that it is not forgotten if the process is interrupted in between.
func (p *pass[T]) reconcile(ctx context.Context, kind gardencorev1beta1.LastOperationType) error {
	if err := p.hold(ctx); err != nil {
		return err
	}
	if err := p.run.Begin(ctx, operation.Start[T]{Type: kind}); err != nil {
		return err
	}
	err := p.run.Update(ctx, func(object T) { removeAnnotation(object, gardencorev1beta1.OperationReconcile) })
	if err != nil {
		return err
	}
	return p.act(ctx, kind, p.r.Actor.Reconcile)
}

// restore removes the annotation after success, because the gardenlet waits for both.
func (p *pass[T]) restore(ctx context.Context) error {
	if err := p.hold(ctx); err != nil {
		return err
	}
	if err := p.act(ctx, gardencorev1beta1.LastOperationTypeRestore, p.r.Actor.Reconcile); err != nil {
		return err
	}
	return p.run.Update(ctx, func(object T) { removeAnnotation(object, gardencorev1beta1.OperationRestore) })
}

func (p *pass[T]) migrate(ctx context.Context) error {
	call := p.r.Actor.Delete
	if migrator, ok := p.r.Actor.(Migrator[T]); ok {
		call = migrator.Migrate
	}
	if err := p.act(ctx, gardencorev1beta1.LastOperationTypeMigrate, call); err != nil {
		return err
	}
	return p.run.Update(ctx, func(object T) {
		controllerutil.RemoveFinalizer(object, p.r.Finalizer)
		removeAnnotation(object, gardencorev1beta1.OperationMigrate)
	})
}

func (p *pass[T]) delete(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(p.object, p.r.Finalizer) || Migrated(p.object) {
		return nil
	}
	if err := p.act(ctx, gardencorev1beta1.LastOperationTypeDelete, p.r.Actor.Delete); err != nil {
		return err
	}
	return kit.DropFinalizer(ctx, p.r.Client, p.run.Object(), p.r.Finalizer)
}

// act calls the actor between the two status writes that the contract asks for.
func (p *pass[T]) act(ctx context.Context, kind gardencorev1beta1.LastOperationType, call func(context.Context, T, *Cluster) error) error {
	if err := p.run.Begin(ctx, operation.Start[T]{Type: kind}); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.r.Limit)
	defer cancel()
	if err := call(limited, p.object, p.cluster); err != nil {
		return err
	}
	return p.run.Succeed(ctx)
}

func removeAnnotation(object client.Object, value string) {
	annotations := object.GetAnnotations()
	if annotations[gardencorev1beta1.AnnotationOperation] == value {
		delete(annotations, gardencorev1beta1.AnnotationOperation)
		object.SetAnnotations(annotations)
	}
}
