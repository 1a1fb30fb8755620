// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// Finalizer keeps a Service of the shoot until its load balancer is gone. Its name is that of all cloud controllers.
	Finalizer = "service.kubernetes.io/load-balancer-cleanup"

	// again is the time after which a refused Service is looked at again: there may be room by then. patience is how long a load balancer may
	// be without an address before its owner is told.
	again    = time.Minute
	patience = time.Minute
	// recheck is the time between two looks at a load balancer that ends, if no event comes.
	recheck = 10 * time.Second
)

// Reconciler makes the load balancers of a shoot. It works on one at a time: that way there are never more than allowed.
type Reconciler struct {
	// Base reaches the shoot.
	kit.Base

	// Namespace holds the machines in their cluster.
	Namespace string
	// Cloud reaches that cluster without a cache.
	Cloud client.Client
	// CloudCache watches load balancers there.
	CloudCache cache.Cache
}

// AddToManager fills the unset fields from the manager of the shoot and registers the controller.
func (r *Reconciler) AddToManager(shoot manager.Manager) error {
	const name = "cloud-service"
	toService := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, made *corev1.Service) []reconcile.Request {
		namespace, name, found := strings.Cut(made.Annotations[AnnotationService], "/")
		if !found {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}}
	})
	b := r.ManagedBy(shoot, name, kit.Queue{Concurrency: 1, BaseDelay: time.Second, MaxDelay: time.Minute}).
		For(&corev1.Service{}, builder.WithPredicates(touched())).
		Watches(&discoveryv1.EndpointSlice{}, handler.EnqueueRequestsFromMapFunc(r.ofSlice)).
		WatchesRawSource(source.Kind(r.CloudCache, &corev1.Service{}, toService)).
		WatchesRawSource(source.Kind(r.CloudCache, &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(r.ofMachine)))
	return kit.Complete(b, name, r)
}

// touched lets through the Services that are to have a load balancer, or may have had one.
func touched() predicate.Predicate {
	touches := func(object client.Object) bool {
		service, is := object.(*corev1.Service)
		return is && (service.Spec.Type == corev1.ServiceTypeLoadBalancer || controllerutil.ContainsFinalizer(service, Finalizer))
	}
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return touches(e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return touches(e.ObjectOld) || touches(e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return touches(e.Object) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Reconcile makes one pass over a Service of the shoot. It may be gone, or be another one than that which its load balancer was made for.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	service := &corev1.Service{}
	err := r.Client.Get(ctx, request.NamespacedName, service)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("read Service %q: %w", request.NamespacedName, err)
	}
	if err == nil && Concerned(service) {
		return kit.Result(r.serve(ctx, service))
	}
	gone, err := r.release(ctx, request.NamespacedName)
	if err != nil || !gone {
		return kit.Result(kit.RequeueAfter(recheck), err)
	}
	// The finalizer of a Service with a class is that of somebody else.
	if service.Name == "" || service.Spec.LoadBalancerClass != nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, kit.DropFinalizer(ctx, r.Client, service, Finalizer)
}

// serve makes the load balancer of a Service what it is to be.
func (r *Reconciler) serve(ctx context.Context, service *corev1.Service) (kit.Outcome, error) {
	all := &corev1.ServiceList{}
	if err := r.Cloud.List(ctx, all, client.InNamespace(r.Namespace), client.MatchingLabels(Labels())); err != nil {
		return kit.Continue(), fmt.Errorf("list load balancers: %w", err)
	}
	name := Name(client.ObjectKeyFromObject(service))
	var live *corev1.Service
	if index := slices.IndexFunc(all.Items, func(s corev1.Service) bool { return s.Name == name }); index >= 0 {
		live = all.Items[index].DeepCopy()
		all.Items = slices.Delete(all.Items, index, index+1)
	}
	want, err := wanted(r.Namespace, service, all.Items)
	if refused, is := errors.AsType[*refusedError](err); is {
		return kit.RequeueAfter(again), r.refuse(ctx, service, refused)
	}
	if err != nil {
		return kit.Continue(), err
	}
	if live != nil && live.DeletionTimestamp != nil {
		return kit.RequeueAfter(recheck), r.report(ctx, service, nil)
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, service, Finalizer); err != nil {
		return kit.Continue(), client.IgnoreNotFound(err)
	}
	lookAgain := false
	if live, err = r.write(ctx, live, want); err == nil {
		lookAgain, err = r.spread(ctx, service, live)
	}
	if err != nil {
		r.explain(service, err)
		return kit.Continue(), err
	}
	if err := r.report(ctx, service, addresses(live)); err != nil {
		return kit.Continue(), err
	}
	if lookAgain {
		return kit.RequeueAfter(recheck), nil
	}
	return r.awaitAddress(service, live), nil
}

// write creates a load balancer, or changes what it has become.
func (r *Reconciler) write(ctx context.Context, live, want *corev1.Service) (*corev1.Service, error) {
	if live == nil {
		if err := r.Cloud.Create(ctx, want); err != nil {
			return nil, fmt.Errorf("create load balancer %q: %w", want.Name, err)
		}
		return want, nil
	}
	next := settled(live, want)
	if equality.Semantic.DeepEqual(live, next) {
		return live, nil
	}
	if local(live) && !local(next) {
		// Its cluster makes others.
		if err := kit.Remove(ctx, r.Cloud, sliceOf(live)); err != nil {
			return nil, err
		}
	}
	// The list of ports is replaced as a whole: two of them may differ in their protocol only.
	if err := r.Cloud.Patch(ctx, next, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})); err != nil {
		return nil, fmt.Errorf("change load balancer %q: %w", want.Name, err)
	}
	return next, nil
}

// awaitAddress tells the owner when a load balancer has no address for long. Why, is known in its cluster only.
func (r *Reconciler) awaitAddress(service, live *corev1.Service) kit.Outcome {
	if len(live.Status.LoadBalancer.Ingress) > 0 {
		return kit.Continue()
	}
	if made := live.CreationTimestamp.Time; !made.IsZero() && r.Clock.Since(made) >= patience {
		r.tell(service, "NoAddress", "The cluster of the machines has given the load balancer no address yet")
	}
	return kit.RequeueAfter(patience)
}

// refuse tells the owner of a Service why it gets no load balancer, and takes away the one that it may have had.
func (r *Reconciler) refuse(ctx context.Context, service *corev1.Service, why *refusedError) error {
	r.tell(service, why.reason, why.message)
	gone, err := r.release(ctx, client.ObjectKeyFromObject(service))
	if err := errors.Join(err, r.report(ctx, service, nil)); err != nil || !gone {
		return err
	}
	return kit.DropFinalizer(ctx, r.Client, service, Finalizer)
}

// release deletes the load balancer of a Service and reports whether it is gone.
func (r *Reconciler) release(ctx context.Context, service client.ObjectKey) (bool, error) {
	live := &corev1.Service{}
	err := r.Cloud.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: Name(service)}, live)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the load balancer of Service %q: %w", service, err)
	}
	if !labels.SelectorFromSet(Labels()).Matches(labels.Set(live.Labels)) {
		return true, nil
	}
	return false, remove(ctx, r.Cloud, live)
}

// report writes the addresses of a load balancer into the status of the Service.
func (r *Reconciler) report(ctx context.Context, service *corev1.Service, found []corev1.LoadBalancerIngress) error {
	if equality.Semantic.DeepEqual(service.Status.LoadBalancer.Ingress, found) {
		return nil
	}
	before := service.DeepCopy()
	service.Status.LoadBalancer.Ingress = found
	if err := r.Client.Status().Patch(ctx, service, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the address into Service %q: %w", client.ObjectKeyFromObject(service), err)
	}
	return nil
}

// explain tells the owner that the cluster of the machines refuses something. What else it says is not for the owner, who may be a stranger
// there.
func (r *Reconciler) explain(service *corev1.Service, err error) {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown && !kit.IsTransient(err) {
		r.tell(service, "LoadBalancerRefused", "The cluster of the machines does not take the load balancer: "+string(reason))
	}
}

func (r *Reconciler) tell(service *corev1.Service, reason, message string) {
	kit.Record(r.Recorder, service, kit.Notice{Type: corev1.EventTypeWarning, Reason: reason, Action: "EnsureLoadBalancer", Message: message})
}
