// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	suffixLength = 5
	// recheck is how often a set with unready machines is checked without an event, because no event says that patience has ended.
	recheck = 30 * time.Second
)

// Reconciler creates and deletes the machines of every set.
// It reads pods and Secrets with Reader, around the cache, so that no machine is created twice.
type Reconciler struct {
	kit.Base

	// Shoot returns the access to the shoot with that control-plane namespace.
	Shoot func(ctx context.Context, namespace string) (*kit.Shoot, error)
	// Random returns n random letters and digits that are valid in names and tokens; from the system when unset.
	Random func(n int) string
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	const name = "machinedeployment"
	if r.Random == nil {
		r.Random = random
	}
	sets := predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetLabels()[gardencorev1beta1.LabelPurpose] == purposeClass
	})
	b := r.ManagedBy(seed, name, kit.Queue{BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&corev1.Secret{}, builder.WithPredicates(sets)).
		Owns(&corev1.Pod{})
	return kit.Complete(b, name, r)
}

// random supports at most 26 characters.
func random(n int) string { return strings.ToLower(rand.Text()[:n]) }

// scope is what one pass works on.
type scope struct {
	secret   *corev1.Secret
	set      Deployment
	userData []byte
	pods     []corev1.Pod
	plan     Plan
}

// Reconcile makes one pass over a set.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := r.Reader.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if secret.DeletionTimestamp != nil || secret.Labels[gardencorev1beta1.LabelPurpose] != purposeClass {
		return reconcile.Result{}, nil
	}
	set, userData, err := FromSecret(secret)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{secret: secret, set: set, userData: userData}
	return kit.Result(kit.Run(ctx, s, r.look, r.remove, r.create, r.annotate, r.watch))
}

// look reads the machines and makes the plan.
func (r *Reconciler) look(ctx context.Context, s *scope) (kit.Outcome, error) {
	pods, err := Pods(ctx, r.Reader, s.secret.Namespace, s.set)
	if err != nil {
		return kit.Stop(), err
	}
	s.pods = pods
	machines := make([]Machine, 0, len(pods))
	for i := range pods {
		machines = append(machines, Observe(&pods[i], r.Clock.Now()))
	}
	s.plan = Decide(s.set, machines)
	return kit.Continue(), nil
}

// Pods lists the machines of a set.
func Pods(ctx context.Context, reader client.Reader, namespace string, set Deployment) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(set.PodLabels())); err != nil {
		return nil, fmt.Errorf("list machines of %q: %w", set.Name, err)
	}
	return list.Items, nil
}

func (r *Reconciler) remove(ctx context.Context, s *scope) (kit.Outcome, error) {
	for _, name := range s.plan.Delete {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = s.secret.Namespace, name
		if err := r.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("delete machine %q: %w", name, err)
		}
	}
	return kit.Continue(), r.removeOrphans(ctx, s.secret, s.pods)
}

// create makes the user data of a machine before the machine, because a pod that waits for a volume waits longer each time.
func (r *Reconciler) create(ctx context.Context, s *scope) (kit.Outcome, error) {
	for range s.plan.Create {
		name := fmt.Sprintf("machine-%s-%s-%s", s.set.Name, s.set.Hash, r.Random(suffixLength))
		userData, err := r.userDataSecret(ctx, s.secret, name, s.userData)
		if err != nil {
			return kit.Stop(), err
		}
		if err := r.Client.Create(ctx, userData); err != nil {
			return kit.Stop(), fmt.Errorf("create user data of machine %q: %w", name, err)
		}
		pod, err := s.set.Pod(s.secret.Namespace, name)
		if err != nil {
			return kit.Stop(), err
		}
		pod.OwnerReferences = append(pod.OwnerReferences, ownedBy(s.secret))
		if err := r.Client.Create(ctx, pod); err != nil {
			return kit.Stop(), fmt.Errorf("create machine %q: %w", name, err)
		}
	}
	return kit.Continue(), nil
}

// annotate updates the node template of the machines that stay.
func (r *Reconciler) annotate(ctx context.Context, s *scope) (kit.Outcome, error) {
	node, err := s.set.NodeAnnotation()
	if err != nil {
		return kit.Stop(), err
	}
	for i := range s.pods {
		pod := &s.pods[i]
		if pod.DeletionTimestamp != nil || pod.Annotations[AnnotationNode] == node {
			continue
		}
		before := pod.DeepCopy()
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, AnnotationNode, node)
		if err := r.Client.Patch(ctx, pod, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("annotate machine %q: %w", pod.Name, err)
		}
	}
	return kit.Continue(), nil
}

// watch requeues the set until all machines are ready.
func (r *Reconciler) watch(_ context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.pods {
		if Observe(&s.pods[i], r.Clock.Now()).State == Pending {
			return kit.RequeueAfter(recheck), nil
		}
	}
	return kit.Continue(), nil
}
