// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

const (
	reasonInvalid   = "InvalidNetworkPolicyAnnotation"
	reasonShortened = "NetworkPolicyLabelShortened"
	reasonTaken     = "NetworkPolicyNameTaken"
)

// errTaken says that a policy has the name of a wanted one, and belongs to somebody else.
var errTaken = errors.New("the name belongs to somebody else")

// Reconcile gives a Service the policies that it wants, and takes away all others that were made for it. A Service whose annotations are
// wrong keeps the policies that it has until they are corrected.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	service := &corev1.Service{}
	if err := r.Client.Get(ctx, request.NamespacedName, service); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("get Service %q: %w", request.NamespacedName, err)
	}
	wanted, err := r.wanted(ctx, service)
	if invalid, found := errors.AsType[*invalidError](err); found {
		r.tell(service, reasonInvalid, invalid.Error())
		return reconcile.Result{}, nil
	}
	if err == nil {
		err = r.bring(ctx, request.NamespacedName, wanted)
	}
	if errors.Is(err, errTaken) {
		r.tell(service, reasonTaken, err.Error())
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("network policies of Service %q: %w", request.NamespacedName, err)
	}
	return reconcile.Result{}, nil
}

// invalidError is a wish that cannot be read. Trying again would not help.
type invalidError struct{ error }

func (r *Reconciler) tell(service *corev1.Service, reason, message string) {
	kit.Record(r.Recorder, service, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: reason, Action: gardencorev1beta1.EventActionReconcile, Message: message,
	})
}

// wanted lists the policies that a Service is to have: none if it is gone, selects no pods, or is where nothing is denied.
func (r *Reconciler) wanted(ctx context.Context, service *corev1.Service) ([]*networkingv1.NetworkPolicy, error) {
	if service.Name == "" || service.DeletionTimestamp != nil || len(service.Spec.Selector) == 0 {
		return nil, nil
	}
	namespaces, err := r.namespaces(ctx)
	if err != nil || !r.Namespaces.Have(namespaces[service.Namespace]) {
		return nil, err
	}
	wish, err := Read(service)
	if err != nil {
		return nil, &invalidError{err}
	}
	wanted := wish.world()
	for _, way := range wish.ways(wish.others(namespaces)) {
		asked, err := r.asked(ctx, way)
		if err != nil {
			return nil, err
		}
		if asked {
			wanted = append(wanted, wish.policies(way, r.Namespaces.Have(namespaces[way.from]))...)
		}
		if asked && way.shortened {
			r.tell(service, reasonShortened, fmt.Sprintf("The label of pods in namespace %q that reach %q is too long; it is %q", way.from, way.id, way.key))
		}
	}
	routed, err := r.routed(ctx, service)
	if err != nil {
		return nil, err
	}
	for _, port := range routed {
		wanted = append(wanted, wish.fromController(r.Ingress, port)...)
	}
	return wanted, nil
}

// others are the namespaces that a Service is open to beside its own, in a fixed order.
func (w Wish) others(namespaces map[string]labels.Set) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		if name != w.Service.Namespace && reach.Namespaces(w.Elsewhere).Have(namespaces[name]) {
			found = append(found, name)
		}
	}
	return found
}

// namespaces are the labels of all namespaces that are there to stay.
func (r *Reconciler) namespaces(ctx context.Context) (map[string]labels.Set, error) {
	list := metadata("Namespace")
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	found := map[string]labels.Set{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			found[list.Items[i].Name] = list.Items[i].Labels
		}
	}
	return found, nil
}

// asked reports whether there is a pod that a way begins at.
func (r *Reconciler) asked(ctx context.Context, way way) (bool, error) {
	pods := metadata("Pod")
	err := r.Client.List(ctx, pods, client.InNamespace(way.from), client.MatchingLabels(reach.Allowed(way.key)), client.Limit(1))
	if err != nil {
		return false, fmt.Errorf("list pods: %w", err)
	}
	return len(pods.Items) > 0, nil
}

func metadata(kind string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
	return list
}

// bring makes the policies of a Service those that are wanted. What opens comes before what closes.
func (r *Reconciler) bring(ctx context.Context, service client.ObjectKey, wanted []*networkingv1.NetworkPolicy) error {
	list := &networkingv1.NetworkPolicyList{}
	if err := r.Client.List(ctx, list, client.MatchingLabels(ownLabels(service))); err != nil {
		return fmt.Errorf("list network policies: %w", err)
	}
	stale := map[client.ObjectKey]*networkingv1.NetworkPolicy{}
	for i := range list.Items {
		stale[client.ObjectKeyFromObject(&list.Items[i])] = &list.Items[i]
	}
	var errs []error
	for _, policy := range wanted {
		key := client.ObjectKeyFromObject(policy)
		live := stale[key]
		delete(stale, key)
		if live == nil || live.DeletionTimestamp != nil || !check.Equal(live.Spec, policy.Spec) {
			errs = append(errs, r.write(ctx, policy))
		}
	}
	for key, policy := range stale {
		if err := r.Seed.Delete(ctx, policy, client.Preconditions{UID: &policy.UID}); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("delete network policy %q: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// write creates or replaces one policy, unless there is one of that name that was not made for the Service: names of Services and namespaces
// can be put together to the same name, and nobody may change the policies of others so. It is not applied, because what others have added
// would stay.
func (r *Reconciler) write(ctx context.Context, policy *networkingv1.NetworkPolicy) error {
	key, live := client.ObjectKeyFromObject(policy), &networkingv1.NetworkPolicy{}
	err := r.Seed.Get(ctx, key, live)
	switch {
	case apierrors.IsNotFound(err):
		err = r.Seed.Create(ctx, policy, client.FieldOwner(fieldOwner))
	case err != nil:
	case !labels.SelectorFromSet(policy.Labels).Matches(labels.Set(live.Labels)):
		err = errTaken
	default:
		live.Spec = policy.Spec
		err = r.Seed.Update(ctx, live, client.FieldOwner(fieldOwner))
	}
	if err != nil {
		return fmt.Errorf("write network policy %q: %w", key, err)
	}
	return nil
}
