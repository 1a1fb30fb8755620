// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// remains are what a deletion finds in the seed.
type remains struct {
	// namespace is there and not in deletion.
	namespace bool
	// apiServer is deployed, available tells whether it serves.
	apiServer, available bool
	// infrastructure, network and worker objects exist.
	infrastructure, network, worker bool
	workerless                      bool
}

// cleanable tells whether there can be anything inside the shoot that has to be removed in order, and a way to do so. An API
// server that never served, on which nothing was built, has nothing in it.
func (f remains) cleanable() bool {
	return f.namespace && f.apiServer && (f.infrastructure || f.workerless) && (f.available || f.network || f.worker)
}

func (o *operation) inspect(ctx context.Context) (remains, error) {
	found := remains{workerless: query.Workerless(&o.shoot.Spec)}
	namespace := &corev1.Namespace{}
	there, err := o.exists(ctx, namespace, client.ObjectKey{Name: o.namespace})
	if err != nil {
		return found, err
	}
	found.namespace = there && namespace.DeletionTimestamp == nil
	server := &appsv1.Deployment{}
	there, err = o.exists(ctx, server, client.ObjectKey{Namespace: o.namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer})
	if err != nil {
		return found, err
	}
	found.apiServer = there && server.DeletionTimestamp == nil
	if found.apiServer {
		found.available, _ = deploy.Healthy(server)
	}
	key := client.ObjectKey{Namespace: o.namespace, Name: o.shoot.Name}
	if found.infrastructure, err = o.exists(ctx, &gardenextensionsv1alpha1.Infrastructure{}, key); err != nil {
		return found, err
	}
	if found.network, err = o.exists(ctx, &gardenextensionsv1alpha1.Network{}, key); err != nil {
		return found, err
	}
	found.worker, err = o.exists(ctx, &gardenextensionsv1alpha1.Worker{}, key)
	return found, err
}

func (o *operation) exists(ctx context.Context, obj client.Object, key client.ObjectKey) (bool, error) {
	err := o.r.SeedClient.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for what is left in the seed: get %T %q: %w", obj, key, err)
	}
	return true, nil
}

func (o *operation) waitGone(ctx context.Context, obj gardenextensionsv1alpha1.Object) error {
	return o.r.extensions().WaitGone(ctx, obj, extensions.KindOf(obj).Patience)
}

func (o *operation) dnsDelete(ctx context.Context) error {
	var errs []error
	for _, purpose := range []string{purposeInternal, purposeExternal} {
		obj := o.dnsObject(purpose)
		if err := o.r.extensions().Delete(ctx, obj); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, o.waitGone(ctx, obj))
	}
	return errors.Join(errs...)
}

// namespaceDelete confirms the deletion of the namespace first, for those who protect namespaces. There is no API server any
// more that anybody could be a client of.
func (o *operation) namespaceDelete(ctx context.Context) error {
	o.r.Shoots.Drop(o.namespace)
	namespace := &corev1.Namespace{}
	there, err := o.exists(ctx, namespace, client.ObjectKey{Name: o.namespace})
	if err != nil || !there {
		return err
	}
	before := namespace.DeepCopy()
	metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, gardencorev1beta1.AnnotationConfirmationDeletion, "true")
	if err := o.r.SeedClient.Patch(ctx, namespace, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("confirm the deletion of namespace %q: %w", o.namespace, err)
	}
	return o.r.seedEngine().Delete(ctx, namespace)
}

// namespaceDeleteWait also waits for a namespace whose deletion an earlier run has begun.
func (o *operation) namespaceDeleteWait(ctx context.Context) error {
	return o.r.seedEngine().WaitGone(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}})
}

// deletedAlready tells whether only the last steps of a deletion are left.
func deletedAlready(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return shoot.DeletionTimestamp != nil && last != nil && last.Type == gardencorev1beta1.LastOperationTypeDelete &&
		last.State == gardencorev1beta1.LastOperationStateSucceeded
}

// deleted ends a deletion: nothing of the shoot is left in the seed, so the garden may forget it.
func (r *Reconciler) deleted(ctx context.Context, o *operation) (reconcile.Result, error) {
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	if err := r.seedEngine().Delete(ctx, cluster); err != nil {
		return r.failed(ctx, nil, o.status, o.status.current().Status, err)
	}
	if !deletedAlready(o.status.current()) {
		done := o.status.current()
		err := o.status.change(ctx, func(gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
			return Succeeded(done, r.Clock.Now())
		})
		if err != nil {
			return kit.Result(kit.Continue(), err)
		}
		r.event(o.shoot, gardencorev1beta1.LastOperationTypeDelete, eventEnd)
	}
	return kit.Result(kit.Continue(), kit.DropFinalizer(ctx, r.GardenClient, o.status.current(), gardencorev1beta1.FinalizerGardener))
}
