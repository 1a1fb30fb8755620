// SPDX-License-Identifier: Apache-2.0

// Package resourcequota keeps room in the ResourceQuotas of projects for what gardenlets write there (GCM-RQ-1). An annotation says
// for how many ConfigMaps and Secrets of each shoot a quota was made; when a later version of the product writes more of them, the
// quota is raised once.
package resourcequota

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "project-resourcequota"

	countShoots     = corev1.ResourceName("count/shoots." + gardencorev1beta1.GroupName)
	countConfigMaps = corev1.ResourceName("count/configmaps")
	countSecrets    = corev1.ResourceName("count/secrets")
)

// Reconciler raises quotas.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Only quotas that were made for less are enqueued.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&corev1.ResourceQuota{}, builder.WithPredicates(kit.Matching(isLow)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile raises one quota if it is one of a project. Numbers and annotations change in one write, so a quota is never raised
// twice for the same reason.
func (r *Reconciler) Reconcile(ctx context.Context, quota *corev1.ResourceQuota) (reconcile.Result, error) {
	if !isLow(quota) {
		return reconcile.Result{}, nil
	}
	namespace := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: quota.Namespace}, namespace); err != nil {
		return kit.Result(kit.Stop(), client.IgnoreNotFound(err))
	}
	if namespace.Labels[gardencorev1beta1.LabelRole] != gardencorev1beta1.RoleProject {
		return reconcile.Result{}, nil
	}
	shoots, err := r.shoots(ctx, quota)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.Client, quota)
	Raise(quota, shoots)
	return kit.Result(kit.Stop(), client.IgnoreNotFound(commit.WriteObject(ctx)))
}

// shoots is the number of shoots that a project may have, or has if that is not limited.
func (r *Reconciler) shoots(ctx context.Context, quota *corev1.ResourceQuota) (int64, error) {
	if limit, found := quota.Spec.Hard[countShoots]; found {
		return limit.Value(), nil
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.Client.List(ctx, shoots, client.InNamespace(quota.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("list shoots of namespace %q: %w", quota.Namespace, err)
	}
	return int64(len(shoots.Items)), nil
}

// need is how many objects of a resource gardenlets write for each shoot.
type need struct {
	resource   corev1.ResourceName
	annotation string
	perShoot   int64
}

func needs() []need {
	return []need{
		{resource: countConfigMaps, annotation: gardencorev1beta1.AnnotationQuotaConfigMapsPerShoot, perShoot: gardencorev1beta1.ProjectConfigMapsPerShoot},
		{resource: countSecrets, annotation: gardencorev1beta1.AnnotationQuotaSecretsPerShoot, perShoot: gardencorev1beta1.ProjectSecretsPerShoot},
	}
}

// madeFor returns for how many objects of each shoot a quota was made, and false if it does not say so.
func (n need) madeFor(quota *corev1.ResourceQuota) (int64, bool) {
	number, err := strconv.ParseInt(quota.Annotations[n.annotation], 10, 32)
	return number, err == nil && number >= 0
}

func isLow(quota *corev1.ResourceQuota) bool {
	for _, n := range needs() {
		if former, known := n.madeFor(quota); !known || former < n.perShoot {
			return true
		}
	}
	return false
}

// Raise raises a quota by what each of some shoots needs more than what the quota was made for, and notes what it is made for now. A
// quota that does not say what it was made for is taken to be made for the present. Numbers never fall: after a downgrade and
// another upgrade the quota would be raised a second time.
func Raise(quota *corev1.ResourceQuota, shoots int64) {
	for _, n := range needs() {
		former, known := n.madeFor(quota)
		if known && former >= n.perShoot {
			continue
		}
		if limit, found := quota.Spec.Hard[n.resource]; known && found {
			limit.Add(*resource.NewQuantity((n.perShoot-former)*shoots, resource.DecimalSI))
			quota.Spec.Hard[n.resource] = limit
		}
		metav1.SetMetaDataAnnotation(&quota.ObjectMeta, n.annotation, strconv.FormatInt(n.perShoot, 10))
	}
}
