// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Reconcile keeps the policies of one namespace. One in which traffic is no longer to be denied loses them.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := &corev1.Namespace{}
	if err := r.SeedClient.Get(ctx, request.NamespacedName, namespace); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if namespace.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	var wanted []*networkingv1.NetworkPolicy
	if r.Namespaces.Have(namespace.Labels) {
		facts, err := r.facts(ctx, namespace)
		if err != nil {
			return reconcile.Result{}, err
		}
		wanted = Render(facts)
	}
	if err := r.bring(ctx, namespace.Name, wanted); err != nil {
		return reconcile.Result{}, fmt.Errorf("network policies of namespace %q: %w", namespace.Name, err)
	}
	return reconcile.Result{}, nil
}

// facts reads what the policies of a namespace depend on.
func (r *Reconciler) facts(ctx context.Context, namespace *corev1.Namespace) (Facts, error) {
	f := Facts{Namespace: namespace.Name, OfShoot: namespace.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleShoot}
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, seed); err != nil {
		return f, fmt.Errorf("get seed %q: %w", r.SeedName, err)
	}
	var shoot *gardencorev1beta1.Shoot
	var err error
	if f.OfShoot {
		if shoot, err = r.shoot(ctx, namespace.Name); err != nil {
			return f, err
		}
	}
	if f.Networks, err = networksOf(seed, shoot); err != nil {
		return f, err
	}
	if f.APIServer, err = r.endpoints(ctx, metav1.NamespaceDefault, apiServerService); err != nil {
		return f, err
	}
	f.DNS, err = r.endpoints(ctx, metav1.NamespaceSystem, dnsService)
	return f, err
}

// shoot reads the shoot of a namespace from its Cluster. There is none for a shoot that begins to exist; a change of the Cluster starts
// another pass.
func (r *Reconciler) shoot(ctx context.Context, namespace string) (*gardencorev1beta1.Shoot, error) {
	cluster := &gardenextensionsv1alpha1.Cluster{}
	err := r.SeedClient.Get(ctx, client.ObjectKey{Name: namespace}, cluster)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // There is no shoot yet.
	}
	if err != nil {
		return nil, fmt.Errorf("get cluster %q: %w", namespace, err)
	}
	shoot := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(cluster.Spec.Shoot.Raw, shoot); err != nil {
		return nil, fmt.Errorf("read the shoot of cluster %q: %w", namespace, err)
	}
	return shoot, nil
}

func (r *Reconciler) endpoints(ctx context.Context, namespace, service string) ([]discoveryv1.EndpointSlice, error) {
	list := &discoveryv1.EndpointSliceList{}
	err := r.SeedClient.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service})
	if err != nil {
		return nil, fmt.Errorf("list endpoints of Service %q: %w", namespace+"/"+service, err)
	}
	return list.Items, nil
}

// bring makes the general policies of a namespace those that are wanted. Only what differs is written. A policy of such a name that
// somebody else has made becomes a general one, whatever it opens.
func (r *Reconciler) bring(ctx context.Context, namespace string, wanted []*networkingv1.NetworkPolicy) error {
	list := &networkingv1.NetworkPolicyList{}
	if err := r.SeedClient.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list network policies: %w", err)
	}
	there := map[string]*networkingv1.NetworkPolicy{}
	for i := range list.Items {
		there[list.Items[i].Name] = &list.Items[i]
	}
	for _, policy := range wanted {
		if err := r.write(ctx, there[policy.Name], policy); err != nil {
			return fmt.Errorf("write %q: %w", policy.Name, err)
		}
		delete(there, policy.Name)
	}
	var errs []error
	for name, policy := range there {
		if !own(policy) {
			continue
		}
		if err := r.SeedClient.Delete(ctx, policy, client.Preconditions{UID: &policy.UID}); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// write creates or replaces a policy. It is not applied: what others have added would stay, and would stay open.
func (r *Reconciler) write(ctx context.Context, live, policy *networkingv1.NetworkPolicy) error {
	switch {
	case live == nil:
		return r.SeedClient.Create(ctx, policy, client.FieldOwner(fieldOwner))
	case own(live) && check.Equal(live.Spec, policy.Spec):
		return nil
	default:
		metav1.SetMetaDataLabel(&live.ObjectMeta, gardencorev1beta1.LabelManagedBy, fieldOwner)
		live.Spec = policy.Spec
		return r.SeedClient.Update(ctx, live, client.FieldOwner(fieldOwner))
	}
}
