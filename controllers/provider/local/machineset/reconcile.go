// SPDX-License-Identifier: Apache-2.0

package machineset

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

const suffixLength = 5

// Reconciler acts on MachineSets.
// It reads Machines around the cache, so that none is created twice.
type Reconciler struct {
	kit.Base

	// Random returns n random letters and digits that are valid in names; from the system when unset.
	Random func(n int) string
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	const name = "machineset"
	if r.Random == nil {
		r.Random = random
	}
	b := r.ManagedBy(seed, name, kit.Queue{Concurrency: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&gardenmachinev1alpha1.MachineSet{}).
		Owns(&gardenmachinev1alpha1.Machine{})
	return kit.Complete(b, name, r)
}

// random supports at most 26 characters.
func random(n int) string { return strings.ToLower(rand.Text()[:n]) }

// scope is what one pass works on.
type scope struct {
	set      *gardenmachinev1alpha1.MachineSet
	machines []gardenmachinev1alpha1.Machine
}

// Reconcile makes one pass over a set.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &gardenmachinev1alpha1.MachineSet{}
	if err := r.Reader.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{set: set}
	if set.DeletionTimestamp != nil {
		return kit.Result(kit.Run(ctx, s, r.look, r.empty, r.release))
	}
	return kit.Result(kit.Run(ctx, s, r.claim, r.look, r.adopt, r.update, r.scale, r.look, r.report))
}

func (r *Reconciler) claim(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), kit.EnsureFinalizer(ctx, r.Client, s.set, gardenmachinev1alpha1.FinalizerMachineControllerManager)
}

// look reads the Machines that the selector selects and that belong to nobody else.
func (r *Reconciler) look(ctx context.Context, s *scope) (kit.Outcome, error) {
	selector, err := metav1.LabelSelectorAsSelector(s.set.Spec.Selector)
	if err != nil {
		return kit.Stop(), kit.UserMustFix("InvalidSelector", fmt.Errorf("machine set %q: spec.selector: %w", s.set.Name, err))
	}
	list := &gardenmachinev1alpha1.MachineList{}
	if err := r.Reader.List(ctx, list, client.InNamespace(s.set.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return kit.Stop(), fmt.Errorf("list machines of set %q: %w", s.set.Name, err)
	}
	s.machines = slices.DeleteFunc(list.Items, func(m gardenmachinev1alpha1.Machine) bool {
		owner := metav1.GetControllerOf(&m)
		return owner != nil && owner.UID != s.set.UID
	})
	return kit.Continue(), nil
}

// adopt takes Machines over that the selector selects and nobody owns: those of an older version, and those that were restored.
func (r *Reconciler) adopt(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.machines {
		m := &s.machines[i]
		if metav1.GetControllerOf(m) != nil || m.DeletionTimestamp != nil {
			continue
		}
		before := m.DeepCopy()
		m.OwnerReferences = append(m.OwnerReferences, r.owner(s.set))
		if err := r.Client.Patch(ctx, m, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return kit.Stop(), fmt.Errorf("adopt machine %q: %w", m.Name, err)
		}
	}
	return kit.Continue(), nil
}

func (r *Reconciler) owner(set *gardenmachinev1alpha1.MachineSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, gardenmachinev1alpha1.GroupVersion.WithKind(gardenmachinev1alpha1.KindMachineSet))
}

// update brings what the template says about nodes and timeouts to the Machines that exist.
func (r *Reconciler) update(ctx context.Context, s *scope) (kit.Outcome, error) {
	template := s.set.Spec.Template.Spec
	for i := range s.machines {
		m := &s.machines[i]
		before := m.DeepCopy()
		m.Spec.NodeTemplate, m.Spec.MachineConfiguration = template.NodeTemplate, template.MachineConfiguration
		if m.DeletionTimestamp != nil || equality.Semantic.DeepEqual(before.Spec, m.Spec) {
			continue
		}
		if err := r.Client.Patch(ctx, m, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("update machine %q: %w", m.Name, err)
		}
	}
	return kit.Continue(), nil
}

func (r *Reconciler) scale(ctx context.Context, s *scope) (kit.Outcome, error) {
	plan := Decide(Wanted{Replicas: s.set.Spec.Replicas, Preserved: s.set.Spec.AutoPreserveFailedMachineMax}, s.machines, r.Clock.Now())
	for _, name := range plan.Preserve {
		if err := r.preserve(ctx, s, name); err != nil {
			return kit.Stop(), err
		}
	}
	for _, name := range plan.Delete {
		machine := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.set.Namespace, Name: name}}
		if err := kit.Remove(ctx, r.Client, machine); err != nil {
			return kit.Stop(), err
		}
	}
	for range plan.Create {
		if err := r.create(ctx, s.set); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// preserve keeps a failed Machine.
func (r *Reconciler) preserve(ctx context.Context, s *scope, name string) error {
	for i := range s.machines {
		m := &s.machines[i]
		if m.Name != name {
			continue
		}
		before := m.DeepCopy()
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, gardenmachinev1alpha1.AnnotationPreserve, gardenmachinev1alpha1.PreserveAuto)
		if err := r.Client.Patch(ctx, m, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("keep the failed machine %q: %w", name, err)
		}
	}
	return nil
}

func (r *Reconciler) create(ctx context.Context, set *gardenmachinev1alpha1.MachineSet) error {
	template := set.Spec.Template.DeepCopy()
	machine := &gardenmachinev1alpha1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-" + r.Random(suffixLength),
			Labels: template.Labels, Annotations: template.Annotations,
			Finalizers:      []string{gardenmachinev1alpha1.FinalizerMachineControllerManager},
			OwnerReferences: []metav1.OwnerReference{r.owner(set)},
		},
		Spec: template.Spec,
	}
	if err := r.Client.Create(ctx, machine); err != nil {
		return fmt.Errorf("create machine %q: %w", machine.Name, err)
	}
	return nil
}

// report counts what is there now, and looks again when a failed machine is not kept any more.
func (r *Reconciler) report(ctx context.Context, s *scope) (kit.Outcome, error) {
	slices.SortFunc(s.machines, func(a, b gardenmachinev1alpha1.Machine) int { return cmp.Compare(a.Name, b.Name) })
	now := r.Clock.Now()
	outcome := kit.Continue()
	for i := range s.machines {
		if m := &s.machines[i]; preservation.Failed(m) && preservation.Kept(m, now) && m.Status.CurrentStatus.PreserveExpiryTime != nil {
			outcome = sooner(outcome, m.Status.CurrentStatus.PreserveExpiryTime.Sub(now))
		}
	}
	before := s.set.DeepCopy()
	s.set.Status = Status(s.set, s.machines, now)
	if equality.Semantic.DeepEqual(before.Status, s.set.Status) {
		return outcome, nil
	}
	if err := r.Client.Status().Patch(ctx, s.set, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("write the status of machine set %q: %w", s.set.Name, err)
	}
	return outcome, nil
}

func sooner(outcome kit.Outcome, after time.Duration) kit.Outcome {
	if outcome.After() == 0 || after < outcome.After() {
		return kit.RecheckAfter(after)
	}
	return outcome
}

// empty deletes all Machines, and waits until they are gone.
func (r *Reconciler) empty(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.machines {
		if s.machines[i].DeletionTimestamp != nil {
			continue
		}
		if err := kit.Remove(ctx, r.Client, &s.machines[i]); err != nil {
			return kit.Stop(), err
		}
	}
	if len(s.machines) > 0 {
		return kit.Stop(), nil
	}
	return kit.Continue(), nil
}

func (r *Reconciler) release(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), kit.DropFinalizer(ctx, r.Client, s.set, gardenmachinev1alpha1.FinalizerMachineControllerManager)
}
