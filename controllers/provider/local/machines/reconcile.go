// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// Reconciler acts on Machines.
// It reads them, and their pods, around the cache, so that no machine is created twice.
type Reconciler struct {
	kit.Base

	// Cloud returns where the machines of the shoot with that control-plane namespace run.
	Cloud cloud.Find
	// Shoot returns the access to the shoot with that control-plane namespace.
	Shoot func(ctx context.Context, namespace string) (*kit.Shoot, error)
	// Random returns n random letters and digits that are valid in tokens; from the system when unset.
	Random func(n int) string
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	const name = "machine"
	if r.Random == nil {
		r.Random = random
	}
	toMachine := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		key, found := machinepod.MachineOf(pod.GetNamespace(), pod.GetName())
		if !found {
			return nil
		}
		return []reconcile.Request{{NamespacedName: key}}
	})
	machinesOnly := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[machinepod.LabelApp] == machinepod.App })
	b := r.ManagedBy(seed, name, kit.Queue{Concurrency: 5, BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&gardenmachinev1alpha1.Machine{}).
		Watches(&corev1.Pod{}, toMachine, builder.WithPredicates(machinesOnly))
	return kit.Complete(b, name, r)
}

// random supports at most 26 characters.
func random(n int) string { return strings.ToLower(rand.Text()[:n]) }

// scope is what one pass works on.
type scope struct {
	machine *gardenmachinev1alpha1.Machine
	cloud   cloud.Cloud
	// key is where the pod is, or would be.
	key client.ObjectKey
	// pod is nil if there is none.
	pod *corev1.Pod
	// node is nil if there is none; nodeError says why it could not be read.
	node      *corev1.Node
	nodeError error
	// creation says why the machine could not be created.
	creation error
	// proposed is set while the owner of the shoot is to select the machine for an update in place.
	proposed bool
}

// Reconcile makes one pass over a Machine.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	machine := &gardenmachinev1alpha1.Machine{}
	if err := r.Reader.Get(ctx, request.NamespacedName, machine); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{machine: machine}
	if machine.DeletionTimestamp != nil {
		return kit.Result(kit.Run(ctx, s, r.look, r.drain, r.stop, r.release))
	}
	return kit.Result(kit.Run(ctx, s, r.claim, r.look, r.create, r.identify, r.heed, r.update, r.report))
}

func (r *Reconciler) claim(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), kit.EnsureFinalizer(ctx, r.Client, s.machine, gardenmachinev1alpha1.FinalizerMachineControllerManager)
}

// look reads the pod and the node.
func (r *Reconciler) look(ctx context.Context, s *scope) (kit.Outcome, error) {
	name, err := machinepod.Name(client.ObjectKeyFromObject(s.machine))
	if s.creation = err; name == "" {
		return kit.Continue(), nil
	}
	s.cloud, err = r.Cloud(ctx, s.machine.Namespace)
	if errors.Is(err, cloud.ErrForeign) && s.machine.DeletionTimestamp != nil {
		// What is there is not of this machine.
		return kit.Continue(), nil
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("find the cloud of machine %q: %w", s.machine.Name, err)
	}
	s.key = client.ObjectKey{Namespace: s.cloud.Namespace, Name: name}
	pod := &corev1.Pod{}
	err = s.cloud.Get(ctx, s.key, pod)
	if client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("read the pod of machine %q: %w", s.machine.Name, err)
	}
	if err == nil {
		s.pod = pod
		r.lookAtNode(ctx, s)
	}
	return kit.Continue(), nil
}

// lookAtNode reads the node, if the shoot answers.
func (r *Reconciler) lookAtNode(ctx context.Context, s *scope) {
	shoot, err := r.Shoot(ctx, s.machine.Namespace)
	if err != nil {
		s.nodeError = err
		return
	}
	node := &corev1.Node{}
	if err := shoot.Get(ctx, client.ObjectKey{Name: s.key.Name}, node); err == nil {
		s.node = node
	} else if !apierrors.IsNotFound(err) {
		s.nodeError = fmt.Errorf("read node %q: %w", s.key.Name, err)
	}
}

// identify writes into the Machine, and onto its pod, what the one has to tell the other.
func (r *Reconciler) identify(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.pod == nil {
		return kit.Continue(), nil
	}
	before := s.machine.DeepCopy()
	s.machine.Spec.ProviderID = machinepod.ProviderID(s.key.Namespace, s.key.Name)
	metav1.SetMetaDataLabel(&s.machine.ObjectMeta, gardenmachinev1alpha1.LabelNode, s.key.Name)
	if before.Spec.ProviderID != s.machine.Spec.ProviderID || before.Labels[gardenmachinev1alpha1.LabelNode] != s.key.Name {
		if err := r.Client.Patch(ctx, s.machine, client.MergeFrom(before)); err != nil {
			return kit.Stop(), fmt.Errorf("write the identity of machine %q: %w", s.machine.Name, err)
		}
	}
	node, err := machinepod.NodeAnnotation(s.machine, machinepod.HasVolumes(s.pod))
	if err != nil || s.pod.Annotations[machinepod.AnnotationNode] == node {
		return kit.Continue(), err
	}
	former, err := machinepod.Former(s.pod.Annotations[machinepod.AnnotationFormer], s.pod.Annotations[machinepod.AnnotationNode])
	if err != nil {
		return kit.Stop(), err
	}
	old := s.pod.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.pod.ObjectMeta, machinepod.AnnotationFormer, former)
	metav1.SetMetaDataAnnotation(&s.pod.ObjectMeta, machinepod.AnnotationNode, node)
	if err := s.cloud.Patch(ctx, s.pod, client.MergeFrom(old)); client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("annotate the pod of machine %q: %w", s.machine.Name, err)
	}
	return kit.Continue(), nil
}

// report writes the status, and asks for another pass where no event says that a timeout has ended.
func (r *Reconciler) report(ctx context.Context, s *scope) (kit.Outcome, error) {
	now := r.Clock.Now()
	verdict := Judge(Observation{Machine: s.machine, Pod: s.pod, Node: s.node, NodeKnown: s.nodeError == nil, Creation: s.creation}, now)
	if err := r.write(ctx, s, verdict, now); err != nil {
		return kit.Stop(), err
	}
	if err := r.keep(ctx, s, now); err != nil {
		return kit.Stop(), err
	}
	if verdict.Phase != gardenmachinev1alpha1.MachineFailed && s.creation != nil {
		return kit.Stop(), s.creation
	}
	unsaid := Wanted(s.machine) != "" && s.machine.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] == ""
	if (s.proposed || unsaid) && verdict.Recheck > selectPeriod {
		verdict.Recheck = selectPeriod
	}
	if s.cloud.Apart() && verdict.Recheck > recheckApart {
		verdict.Recheck = recheckApart
	}
	return kit.RequeueAfter(verdict.Recheck), nil
}

// write is the one status write of a pass.
func (r *Reconciler) write(ctx context.Context, s *scope, v Verdict, now time.Time) error {
	before := s.machine.DeepCopy()
	v.into(&s.machine.Status, s.node, metav1.NewTime(now))
	s.machine.Status.CurrentStatus.PreserveExpiryTime = preservation.End(s.machine, s.pod == nil || s.pod.DeletionTimestamp != nil, now)
	if sameStatus(before.Status, s.machine.Status) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, s.machine, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of machine %q: %w", s.machine.Name, err)
	}
	return nil
}

// unreachable reports whether a shoot has no API server to ask, because its control plane is gone or was never there.
func unreachable(err error) bool { return errors.Is(err, kit.ErrNoShootAccess) }
