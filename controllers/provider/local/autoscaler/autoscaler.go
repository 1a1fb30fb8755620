// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reasons of the events on pods and nodes.
const (
	reasonTriggered    = "TriggeredScaleUp"
	reasonNotTriggered = "NotTriggerScaleUp"
	reasonScaleDown    = "ScaleDown"
)

// Autoscaler scales the machine deployments of one shoot.
type Autoscaler struct {
	// Options say how.
	Options Options
	// Shoot reads from the shoot, from a cache if it has one, and writes the status.
	Shoot client.Client
	// Seed reaches the machines around any cache.
	Seed client.Client
	// Recorder writes events of the shoot.
	Recorder events.EventRecorder
	// Clock gives the time.
	Clock clock.WithTicker
	// Log says what was done.
	Log logr.Logger
	// Metrics count what is seen and done; nil counts nothing.
	Metrics *Metrics
	// Random returns a number from 0 to below n; from the system when unset.
	Random func(n int) int

	memory *memory
	status status
}

// Start makes passes until ctx ends. A pass that fails is made again, because the world may be another one by then.
func (a *Autoscaler) Start(ctx context.Context) error {
	ticker := a.Clock.NewTicker(a.Options.ScanInterval)
	defer ticker.Stop()
	for {
		if err := a.Pass(ctx); err != nil && ctx.Err() == nil {
			a.Log.Error(err, "Pass failed")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Pass looks at the shoot once, and adds or removes machines.
func (a *Autoscaler) Pass(ctx context.Context) error {
	if a.memory == nil {
		a.memory = newMemory()
	}
	w, err := a.look(ctx)
	if err != nil {
		return err
	}
	if limit := a.Options.MaxBinpackingTime; limit > 0 {
		w.late = func() bool { return a.Clock.Since(w.now) >= limit }
	}
	coming, err := a.await(ctx, w)
	if err != nil {
		return err
	}
	choose, err := a.chooser(ctx)
	if err != nil {
		return err
	}
	decided := w.grow(coming, a.memory.barred(w.now), choose)
	a.explain(decided)
	if decided.best != nil {
		if err := a.add(ctx, w, decided.best); err != nil {
			return err
		}
		coming[decided.best.group.Name] += len(decided.best.nodes)
	}
	if err := a.unmark(ctx, w); err != nil {
		return err
	}
	seen := w.review()
	a.tell(seen)
	a.memory.notice(seen.unneeded, w.now)
	if decided.best == nil && !a.memory.cooling(w) {
		err = a.shrink(ctx, w, w.due(seen.unneeded, a.memory.unneeded))
	}
	all := a.summarize(w, coming, seen.unneeded)
	a.Metrics.see(&all, decided.waiting, a.Options.GroupMetrics)
	a.at(levelPass).Info("Pass made", "podsWithoutPlace", decided.waiting, "machinesComing", coming, "unneededNodes", len(seen.unneeded))
	return errors.Join(err, a.publish(ctx, w, &all))
}

// await says how many machines of each group are on their way, and gives up on groups whose machines do not come.
func (a *Autoscaler) await(ctx context.Context, w *world) (map[string]int, error) {
	coming := map[string]int{}
	for _, g := range w.groups {
		count, late := a.memory.arrivals(w, g)
		if !late {
			coming[g.Name] = count
			continue
		}
		if err := a.giveUp(ctx, w, g, count); err != nil {
			return nil, err
		}
		// Only now: it ends the wait, and a pass that could not give up has to be followed by one that does.
		a.memory.fail(w, g.Name)
		a.Log.Info("Machines did not come in time", "machineDeployment", g.Name, "missing", count, "timeout", g.MaxNodeProvisionTime)
	}
	return coming, nil
}

// giveUp wants those machines no more that did not come, as far as the minimum permits.
func (a *Autoscaler) giveUp(ctx context.Context, w *world, g *group, missing int) error {
	leave := min(missing, int(g.target()-g.Minimum))
	if leave <= 0 {
		return nil
	}
	var late []*gardenmachinev1alpha1.Machine
	for i := range g.machines {
		if node := w.nodes[nodeOf(&g.machines[i])]; (node == nil || !w.started(node)) && !w.kept(g, i) && len(late) < leave {
			late = append(late, &g.machines[i])
		}
	}
	return a.remove(ctx, g, late, leave)
}

// chooser reads which groups are preferred, if that counts.
func (a *Autoscaler) chooser(ctx context.Context) (func([]*option) *option, error) {
	c := chooser{expanders: a.Options.Expanders, random: a.Random}
	if c.random == nil {
		c.random = rand.IntN
	}
	if !slices.Contains(c.expanders, Priority) {
		return c.choose, nil
	}
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ConfigMapPriorities}
	if err := a.Shoot.Get(ctx, key, config); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read config map %q: %w", key, err)
	}
	parsed, err := parsePriorities(config.Data[keyPriorities])
	if err != nil {
		// Its owner may write anything into it. Pods wait for machines nevertheless.
		kit.Record(a.Recorder, config, kit.Notice{Type: corev1.EventTypeWarning, Reason: "PriorityConfigMapInvalid", Action: "ScaleUp", Message: err.Error()})
	}
	c.priorities = parsed
	return c.choose, nil
}

// explain tells pods that no group helps why not, as long as it is something new.
func (a *Autoscaler) explain(decided growth) {
	if decided.cut {
		a.at(levelNews).Info("Not all machine deployments were looked at", "maxBinpackingTime", a.Options.MaxBinpackingTime)
		return
	}
	fresh := newMemory().told
	for pod, why := range decided.hopeless {
		if a.memory.told[pod.UID] != why {
			a.at(levelNews).Info("No machine would help a pod", "pod", client.ObjectKeyFromObject(pod), "reason", why)
			kit.Record(a.Recorder, pod, kit.Notice{
				Type: corev1.EventTypeNormal, Reason: reasonNotTriggered, Action: "ScaleUp", Message: "pod didn't trigger scale-up: " + why,
			})
		}
		fresh[pod.UID] = why
	}
	a.memory.told = fresh
}

// add wants as many machines more as the option needs.
func (a *Autoscaler) add(ctx context.Context, w *world, o *option) error {
	g := o.group
	before := g.target()
	if err := a.scale(ctx, g, min(g.Maximum, before+int32(len(o.nodes)))); err != nil { //nolint:gosec // not more than the maximum
		return err
	}
	a.memory.expect(w, g)
	a.Metrics.scaledUp(int(g.target() - before))
	for _, pod := range o.pods {
		kit.Record(a.Recorder, pod, kit.Notice{
			Type: corev1.EventTypeNormal, Reason: reasonTriggered, Action: "ScaleUp",
			Message: fmt.Sprintf("pod triggered scale-up: [{%s %d->%d (max: %d)}]", g.Name, before, g.target(), g.Maximum),
		})
	}
	return nil
}

// shrink removes the machines of nodes that were not needed for long enough.
func (a *Autoscaler) shrink(ctx context.Context, w *world, going []*candidate) error {
	for _, g := range w.groups {
		var machines []*gardenmachinev1alpha1.Machine
		var nodes []*candidate
		for _, c := range going {
			if c.group == g {
				machines, nodes = append(machines, c.machine), append(nodes, c)
			}
		}
		if len(machines) == 0 {
			continue
		}
		if err := a.remove(ctx, g, machines, len(machines)); err != nil {
			a.memory.lastFailure = w.now
			return err
		}
		a.memory.lastDelete = w.now
		a.Metrics.scaledDown(len(machines))
		for _, c := range nodes {
			delete(a.memory.unneeded, c.node.Name)
			a.announce(c)
		}
	}
	return nil
}

func (a *Autoscaler) announce(c *candidate) {
	kit.Record(a.Recorder, c.node, kit.Notice{
		Type: corev1.EventTypeNormal, Reason: reasonScaleDown, Action: "ScaleDown",
		Message: fmt.Sprintf("node is removed by the cluster autoscaler: it was not needed for %s, and its pods fit elsewhere", c.group.ScaleDownUnneededTime),
	})
	for _, pod := range c.moving {
		kit.Record(a.Recorder, pod, kit.Notice{
			Type: corev1.EventTypeNormal, Reason: reasonScaleDown, Action: "ScaleDown", Message: "pod is evicted because its node is removed by the cluster autoscaler",
		})
	}
}

// remove marks Machines as the first to go, says how long their pods may take to end, and wants fewer. If it fails between the two, the next removal marks its Machines as even
// less worth, so that no other one goes in their place.
func (a *Autoscaler) remove(ctx context.Context, g *group, machines []*gardenmachinev1alpha1.Machine, fewer int) error {
	worth := 1
	for i := range g.machines {
		if have, err := strconv.Atoi(g.machines[i].Annotations[gardenmachinev1alpha1.AnnotationPriority]); err == nil {
			worth = min(worth, have-1)
		}
	}
	for _, m := range machines {
		before := m.DeepCopy()
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, gardenmachinev1alpha1.AnnotationPriority, strconv.Itoa(worth))
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, gardenmachinev1alpha1.AnnotationMaxGracefulTermination, strconv.Itoa(a.Options.MaxGracefulTermination))
		if err := a.Seed.Patch(ctx, m, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("mark machine %q as the first to go: %w", m.Name, err)
		}
	}
	return a.scale(ctx, g, max(g.Minimum, g.target()-int32(fewer))) //nolint:gosec // not more than the target
}

// unmark takes from Machines that stay after all how long their pods may take to end: a removal that failed half way has left it, and it would
// count when they go for another reason. While a group has more Machines than it wants, some of them are about to go.
func (a *Autoscaler) unmark(ctx context.Context, w *world) error {
	for _, g := range w.groups {
		for i := range g.machines {
			m := &g.machines[i]
			if _, marked := m.Annotations[gardenmachinev1alpha1.AnnotationMaxGracefulTermination]; !marked || len(g.machines) > int(g.target()) {
				continue
			}
			before := m.DeepCopy()
			delete(m.Annotations, gardenmachinev1alpha1.AnnotationMaxGracefulTermination)
			patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
			if err := a.Seed.Patch(ctx, m, patch); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("unmark machine %q, which stays: %w", m.Name, err)
			}
		}
	}
	return nil
}

// scale writes the number of machines. If somebody else has changed the deployment since it was read, the server refuses.
func (a *Autoscaler) scale(ctx context.Context, g *group, replicas int32) error {
	before := g.deployment.DeepCopy()
	g.deployment.Spec.Replicas = replicas
	if err := a.Seed.Patch(ctx, g.deployment, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("scale machine deployment %q: %w", g.Name, err)
	}
	a.Log.Info("Scaled machine deployment", "machineDeployment", g.Name, "from", before.Spec.Replicas, "to", replicas)
	return nil
}
