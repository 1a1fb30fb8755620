// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// hashLength is short enough for the host names of machines.
const hashLength = 10

// Reconciler acts on MachineDeployments. It reads sets and Machines around the cache.
type Reconciler struct {
	kit.Base
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	const name = "machinedeployment"
	b := r.ManagedBy(seed, name, kit.Queue{Concurrency: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&gardenmachinev1alpha1.MachineDeployment{}).
		Owns(&gardenmachinev1alpha1.MachineSet{}).
		Watches(&gardenmachinev1alpha1.Machine{}, handler.EnqueueRequestsFromMapFunc(deploymentOf))
	return kit.Complete(b, name, r)
}

// scope is what one pass works on.
type scope struct {
	deployment *gardenmachinev1alpha1.MachineDeployment
	sets       []gardenmachinev1alpha1.MachineSet
	// machines are those of all sets.
	machines []gardenmachinev1alpha1.Machine
	// current is the index of the set with the wanted class.
	current int
}

// Reconcile makes one pass over a deployment.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployment := &gardenmachinev1alpha1.MachineDeployment{}
	if err := r.Reader.Get(ctx, request.NamespacedName, deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{deployment: deployment}
	if deployment.DeletionTimestamp != nil {
		return kit.Result(kit.Run(ctx, s, r.look, r.empty, r.release))
	}
	if deployment.Spec.Paused {
		return reconcile.Result{}, nil
	}
	return kit.Result(kit.Run(ctx, s, r.claim, r.look, r.adopt, r.ensureCurrent, r.scale, r.choose, r.report, r.tidy))
}

func (r *Reconciler) claim(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), kit.EnsureFinalizer(ctx, r.Client, s.deployment, gardenmachinev1alpha1.FinalizerMachineControllerManager)
}

// look reads the sets and Machines that the selector selects and that belong to nobody else.
func (r *Reconciler) look(ctx context.Context, s *scope) (kit.Outcome, error) {
	selector, err := metav1.LabelSelectorAsSelector(s.deployment.Spec.Selector)
	if err != nil || selector.Empty() {
		return kit.Stop(), kit.UserMustFix("InvalidSelector", fmt.Errorf("machine deployment %q: spec.selector: it has to select something: %w", s.deployment.Name, err))
	}
	within := []client.ListOption{client.InNamespace(s.deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	sets := &gardenmachinev1alpha1.MachineSetList{}
	if err := r.Reader.List(ctx, sets, within...); err != nil {
		return kit.Stop(), fmt.Errorf("list sets of machine deployment %q: %w", s.deployment.Name, err)
	}
	machines := &gardenmachinev1alpha1.MachineList{}
	if err := r.Reader.List(ctx, machines, within...); err != nil {
		return kit.Stop(), fmt.Errorf("list machines of machine deployment %q: %w", s.deployment.Name, err)
	}
	s.machines = machines.Items
	s.sets = slices.DeleteFunc(sets.Items, func(m gardenmachinev1alpha1.MachineSet) bool {
		owner := metav1.GetControllerOf(&m)
		return owner != nil && owner.UID != s.deployment.UID
	})
	slices.SortFunc(s.sets, func(a, b gardenmachinev1alpha1.MachineSet) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	s.current = slices.IndexFunc(s.sets, func(m gardenmachinev1alpha1.MachineSet) bool {
		return m.DeletionTimestamp == nil && m.Spec.Template.Spec.Class == s.deployment.Spec.Template.Spec.Class
	})
	return kit.Continue(), nil
}

// adopt takes sets over that nobody owns: those of an older version, and those that were restored.
func (r *Reconciler) adopt(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.sets {
		set := &s.sets[i]
		if metav1.GetControllerOf(set) != nil || set.DeletionTimestamp != nil {
			continue
		}
		before := set.DeepCopy()
		set.OwnerReferences = append(set.OwnerReferences, owner(s.deployment))
		if err := r.Client.Patch(ctx, set, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return kit.Stop(), fmt.Errorf("adopt machine set %q: %w", set.Name, err)
		}
	}
	return kit.Continue(), nil
}

func owner(d *gardenmachinev1alpha1.MachineDeployment) metav1.OwnerReference {
	return *metav1.NewControllerRef(d, gardenmachinev1alpha1.GroupVersion.WithKind(gardenmachinev1alpha1.KindMachineDeployment))
}

// ensureCurrent makes the set for the wanted class, without machines, if there is none.
func (r *Reconciler) ensureCurrent(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.current >= 0 {
		return kit.Continue(), nil
	}
	set := NewSet(s.deployment)
	set.OwnerReferences = []metav1.OwnerReference{owner(s.deployment)}
	set.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationRevision: strconv.Itoa(revision(s.sets) + 1)}
	if err := r.Client.Create(ctx, set); err != nil {
		return kit.Stop(), fmt.Errorf("create machine set %q: %w", set.Name, err)
	}
	s.sets, s.current = append(s.sets, *set), len(s.sets)
	return kit.Continue(), nil
}

// NewSet returns the set for the class that a deployment wants, without machines and without an owner.
func NewSet(d *gardenmachinev1alpha1.MachineDeployment) *gardenmachinev1alpha1.MachineSet {
	sum := sha256.Sum256([]byte(d.Spec.Template.Spec.Class.Name))
	hash := hex.EncodeToString(sum[:])[:hashLength]
	template := *d.Spec.Template.DeepCopy()
	template.Labels = maps.Clone(template.Labels)
	metav1.SetMetaDataLabel(&template.ObjectMeta, gardenmachinev1alpha1.LabelTemplateHash, hash)
	selector := d.Spec.Selector.DeepCopy()
	if selector == nil {
		selector = &metav1.LabelSelector{}
	}
	return &gardenmachinev1alpha1.MachineSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + hash, Labels: template.Labels,
			Finalizers: []string{gardenmachinev1alpha1.FinalizerMachineControllerManager},
		},
		Spec: gardenmachinev1alpha1.MachineSetSpec{
			Selector:     metav1.AddLabelToSelector(selector, gardenmachinev1alpha1.LabelTemplateHash, hash),
			MachineClass: template.Spec.Class, Template: template, MinReadySeconds: d.Spec.MinReadySeconds,
		},
	}
}

func revision(sets []gardenmachinev1alpha1.MachineSet) int {
	highest := 0
	for i := range sets {
		if number, err := strconv.Atoi(sets[i].Annotations[gardenmachinev1alpha1.AnnotationRevision]); err == nil {
			highest = max(highest, number)
		}
	}
	return highest
}

// scale writes the next numbers into the sets, with what the template says about nodes and timeouts.
func (r *Reconciler) scale(ctx context.Context, s *scope) (kit.Outcome, error) {
	replicas := int(s.deployment.Spec.Replicas)
	limits, err := LimitsOf(s.deployment.Spec.Strategy, replicas)
	if err != nil {
		return kit.Stop(), kit.UserMustFix("InvalidStrategy", fmt.Errorf("machine deployment %q: spec.strategy: %w", s.deployment.Name, err))
	}
	var old []Set
	for i := range s.sets {
		if i != s.current {
			old = append(old, s.count(i))
		}
	}
	if len(old) == 0 && s.updates() {
		replicas += limits.Surge // More machines than wanted take the pods of those that are updated in place.
	}
	plan := Decide(replicas, limits, s.count(s.current), old)
	for i := range s.sets {
		set := &s.sets[i]
		before := set.DeepCopy()
		set.Spec.Replicas = int32(min(plan[set.Name], replicas+limits.Surge)) //nolint:gosec // not more than an int32
		set.Spec.AutoPreserveFailedMachineMax = 0
		if i == s.current && len(old) == 0 {
			set.Spec.AutoPreserveFailedMachineMax = s.deployment.Spec.AutoPreserveFailedMachineMax // A replacement waits for no failed machine.
		}
		set.Spec.Template.Spec.NodeTemplate = s.deployment.Spec.Template.Spec.NodeTemplate
		set.Spec.Template.Spec.MachineConfiguration = s.deployment.Spec.Template.Spec.MachineConfiguration
		if equality.Semantic.DeepEqual(before.Spec, set.Spec) {
			continue
		}
		if err := r.Client.Patch(ctx, set, client.MergeFrom(before)); err != nil {
			return kit.Stop(), fmt.Errorf("scale machine set %q: %w", set.Name, err)
		}
	}
	return kit.Continue(), nil
}

// count looks at the machines of a set.
func (s *scope) count(index int) Set {
	set := &s.sets[index]
	result := Set{Name: set.Name, Replicas: int(set.Spec.Replicas)}
	for i := range s.machines {
		m := &s.machines[i]
		if m.Labels[gardenmachinev1alpha1.LabelTemplateHash] != set.Labels[gardenmachinev1alpha1.LabelTemplateHash] || m.DeletionTimestamp != nil {
			continue
		}
		result.Machines++
		if m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineRunning {
			result.Ready++
		}
	}
	return result
}

// tidy deletes old sets that have no machines.
func (r *Reconciler) tidy(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.sets {
		set := &s.sets[i]
		if i == s.current || set.DeletionTimestamp != nil || set.Spec.Replicas > 0 || s.has(set) {
			continue
		}
		if err := kit.Remove(ctx, r.Client, set); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// has reports whether a set has machines, also such that are being deleted.
func (s *scope) has(set *gardenmachinev1alpha1.MachineSet) bool {
	return slices.ContainsFunc(s.machines, func(m gardenmachinev1alpha1.Machine) bool {
		return m.Labels[gardenmachinev1alpha1.LabelTemplateHash] == set.Labels[gardenmachinev1alpha1.LabelTemplateHash]
	})
}

// empty deletes all sets, and waits until they are gone.
func (r *Reconciler) empty(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.sets {
		if err := kit.Remove(ctx, r.Client, &s.sets[i]); err != nil {
			return kit.Stop(), err
		}
	}
	if len(s.sets) > 0 {
		return kit.Stop(), nil
	}
	return kit.Continue(), nil
}

func (r *Reconciler) release(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), kit.DropFinalizer(ctx, r.Client, s.deployment, gardenmachinev1alpha1.FinalizerMachineControllerManager)
}
