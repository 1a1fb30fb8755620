// SPDX-License-Identifier: Apache-2.0

// Package health judges the objects of ManagedResources: whether all exist and are healthy, and whether workloads run in their newest
// version. It looks periodically, soon again while something is wrong, and in the seed also when an object changes.
package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const (
	controllerName = "managedresource-health"
	// impatientPeriod is the time between two looks while something is not healthy or still progressing.
	impatientPeriod = 5 * time.Second
)

// Reconciler judges the ManagedResources of a seed.
type Reconciler struct {
	kit.Base

	// Targets finds the cluster of a ManagedResource.
	Targets target.Finder
	// ClusterID stands before the origin of objects; it may be empty.
	ClusterID string
	// SyncPeriod is the time between two looks.
	SyncPeriod time.Duration
}

// AddToManager registers the reconciler in the manager of the seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	judged := kit.Changed(func(mr *gardenresourcesv1alpha1.ManagedResource) any { return judgeable(mr) })
	queue := target.Queue()
	queue.MaxDelay = r.SyncPeriod
	b := r.ManagedBy(seed, controllerName, queue).
		For(&gardenresourcesv1alpha1.ManagedResource{}, builder.WithPredicates(judged))
	for _, kind := range watched() {
		_, err := seed.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			continue // a cluster without this kind has no object of it
		}
		if err != nil {
			return fmt.Errorf("find out whether the seed knows %ss: %w", kind.Kind, err)
		}
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(kind)
		b = b.WatchesMetadata(object, handler.EnqueueRequestsFromMapFunc(r.originOf))
	}
	return kit.Complete(b, controllerName, r)
}

// watched are the kinds whose objects in the seed are looked at when they change (GRM-HEALTH-3). Only their metadata is kept, and there
// are few of them. Nothing is watched in shoots: that would cost a connection and a list for each kind and shoot.
func watched() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
		batchv1.SchemeGroupVersion.WithKind("Job"), apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	}
}

// originOf is the ManagedResource that an object of the seed comes from, if it is one of this cluster.
func (r *Reconciler) originOf(_ context.Context, object client.Object) []reconcile.Request {
	origin := object.GetAnnotations()[gardenresourcesv1alpha1.AnnotationOrigin]
	if r.ClusterID != "" {
		var ours bool
		if origin, ours = strings.CutPrefix(origin, r.ClusterID+":"); !ours {
			return nil
		}
	}
	namespace, name, found := strings.Cut(origin, "/")
	if !found || strings.Contains(namespace, ":") {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}}
}

// judgeable reports whether the objects of a ManagedResource are as they are meant to be, so that they can be judged (GRM-HEALTH-2).
func judgeable(mr *gardenresourcesv1alpha1.ManagedResource) bool {
	applied := query.FindCondition(mr.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesApplied)
	return slices.Contains(target.Classes(), managedresource.ClassOf(mr)) && !managedresource.Ignored(mr) && mr.DeletionTimestamp == nil &&
		applied != nil && applied.Status != gardencorev1beta1.ConditionProgressing && applied.Status != gardencorev1beta1.ConditionFalse
}

// Reconcile judges one ManagedResource.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	if err := r.Client.Get(ctx, request.NamespacedName, mr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !judgeable(mr) {
		return reconcile.Result{}, nil
	}
	cluster, err := r.Targets.Of(ctx, managedresource.ClassOf(mr), mr.Namespace)
	if errors.Is(err, target.ErrAsleep) || errors.Is(err, kit.ErrNoShootAccess) {
		return reconcile.Result{RequeueAfter: r.SyncPeriod}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	run, cancel := target.Bound(ctx, len(mr.Status.Resources))
	defer cancel()
	healthy, progressing, err := Judge(run, cluster, mr.Status.Resources)
	if err != nil {
		return reconcile.Result{}, target.Explain(run, err)
	}
	commit, pause := kit.Begin(r.Client, mr), r.SyncPeriod
	for _, condition := range []gardencorev1beta1.Condition{healthy, progressing} {
		mr.Status.Conditions = kit.SetCondition(mr.Status.Conditions, condition, r.Clock.Now())
	}
	if healthy.Status != gardencorev1beta1.ConditionTrue || progressing.Status != gardencorev1beta1.ConditionFalse {
		pause = min(pause, impatientPeriod)
	}
	return commit.Status(ctx, kit.RequeueAfter(pause), nil)
}

// Judge looks at objects of a cluster and returns the conditions of health and progress. The first object that is not as it should
// be decides (GRM-HEALTH-1, GRM-PROG-1).
func Judge(ctx context.Context, cluster client.Client, references []gardenresourcesv1alpha1.ObjectReference) (healthy, progressing gardencorev1beta1.Condition, err error) {
	healthy = gardencorev1beta1.Condition{
		Type: gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, Status: gardencorev1beta1.ConditionTrue,
		Reason: gardenresourcesv1alpha1.ReasonResourcesHealthy, Message: "All objects are healthy",
	}
	progressing = gardencorev1beta1.Condition{
		Type: gardenresourcesv1alpha1.ConditionTypeResourcesProgressing, Status: gardencorev1beta1.ConditionFalse,
		Reason: gardenresourcesv1alpha1.ReasonResourcesRolledOut, Message: "All workloads run in their newest version",
	}
	for _, reference := range references {
		live, err := read(ctx, cluster, reference)
		if err != nil {
			return healthy, progressing, err
		}
		name := reference.Kind + " " + strconv.Quote(client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}.String())
		if reference.Namespace == "" {
			name = reference.Kind + " " + strconv.Quote(reference.Name)
		}
		sick, slow, err := judgeOne(ctx, cluster, live)
		if err != nil {
			return healthy, progressing, err
		}
		if live == nil {
			unhealthy(&healthy, reference.Kind+"Missing", name+" does not exist")
		} else if sick != "" {
			unhealthy(&healthy, reference.Kind+"Unhealthy", name+" is not healthy: "+sick)
		}
		if slow != "" && progressing.Status == gardencorev1beta1.ConditionFalse {
			progressing.Status, progressing.Reason, progressing.Message = gardencorev1beta1.ConditionTrue, reference.Kind+"Progressing", name+" is progressing: "+slow
		}
	}
	return healthy, progressing, nil
}

func unhealthy(condition *gardencorev1beta1.Condition, reason, message string) {
	if condition.Status == gardencorev1beta1.ConditionTrue {
		condition.Status, condition.Reason, condition.Message = gardencorev1beta1.ConditionFalse, reason, message
	}
}

// judgeOne says what is wrong with an object, and what of it is still changing. Both are empty for one that wants no check
// (GRM-HEALTH-4).
func judgeOne(ctx context.Context, cluster client.Client, live client.Object) (sick, slow string, err error) {
	if live == nil {
		return "", "", nil
	}
	if skip, err := strconv.ParseBool(live.GetAnnotations()[gardenresourcesv1alpha1.AnnotationSkipHealthCheck]); err == nil && skip {
		return "", "", nil
	}
	_, sick = deploy.Healthy(live)
	slow = Progress(live)
	workload, ok := live.(*unstructured.Unstructured)
	if slow == "" && ok && workload.GroupVersionKind().GroupKind() == appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind() {
		slow, err = oldPods(ctx, cluster, workload)
	}
	return sick, slow, err
}

// judged are the kinds for which there is a rule. All others only have to exist.
func judged(kind schema.GroupKind) bool {
	switch kind.String() {
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "Pod", "Service", "ReplicationController",
		"CustomResourceDefinition.apiextensions.k8s.io":
		return true
	default:
		return deploy.Foreign(kind.String())
	}
}

// read reads an object, or only its metadata if nothing else of it is looked at. It returns nil if there is none.
func read(ctx context.Context, cluster client.Client, reference gardenresourcesv1alpha1.ObjectReference) (client.Object, error) {
	kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	var live client.Object = &unstructured.Unstructured{}
	if !judged(kind.GroupKind()) {
		live = &metav1.PartialObjectMetadata{}
	}
	live.GetObjectKind().SetGroupVersionKind(kind)
	err := cluster.Get(ctx, client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}, live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %q: %w", reference.Kind, reference.Name, err)
	}
	return live, nil
}

// Progress says what of a live workload is not in its newest version yet, and nothing for other objects (GRM-PROG-2).
func Progress(object client.Object) string {
	live, ok := object.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	switch live.GroupVersionKind().GroupKind().String() {
	case "Deployment.apps":
		return convertAnd(live, deploymentProgress)
	case "StatefulSet.apps":
		return convertAnd(live, func(s *appsv1.StatefulSet) string {
			return rollout(s, s.Status.ObservedGeneration, s.Status.UpdatedReplicas, ptr.Deref(s.Spec.Replicas, 1))
		})
	case "DaemonSet.apps":
		return convertAnd(live, func(s *appsv1.DaemonSet) string {
			return rollout(s, s.Status.ObservedGeneration, s.Status.UpdatedNumberScheduled, s.Status.DesiredNumberScheduled)
		})
	default:
		return deploy.ForeignProgress(live)
	}
}

func convertAnd[T any](live *unstructured.Unstructured, judge func(*T) string) string {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed); err != nil {
		return "its status cannot be read"
	}
	return judge(typed)
}

func rollout(object client.Object, observed int64, updated, want int32) string {
	if observed < object.GetGeneration() {
		return "the last change is not observed yet"
	}
	if updated < want {
		return fmt.Sprintf("%d of %d pods are updated", updated, want)
	}
	return ""
}

func deploymentProgress(d *appsv1.Deployment) string {
	if d.Status.ObservedGeneration < d.Generation {
		return "the last change is not observed yet"
	}
	const done = "NewReplicaSetAvailable"
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentProgressing {
			continue
		}
		if c.Status != corev1.ConditionTrue || c.Reason != done {
			return "its rollout is at " + c.Reason
		}
		if want := ptr.Deref(d.Spec.Replicas, 1); d.Status.Replicas != want {
			return fmt.Sprintf("%d of %d pods exist", d.Status.Replicas, want)
		}
		return ""
	}
	return "its rollout has not begun"
}
