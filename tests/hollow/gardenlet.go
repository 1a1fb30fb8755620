// SPDX-License-Identifier: Apache-2.0

package hollow

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
)

// Gardenlet asks of a garden what a gardenlet asks once it has joined, and does nothing on any seed: over a connection of its own
// it renews its lease, watches its Seed, its Shoots and its ControllerInstallations, and reports on Seed and Shoots. All fields are
// required.
type Gardenlet struct {
	// Config reaches the garden with the certificate of the gardenlet.
	Config *rest.Config
	// Scheme knows the kinds of the garden.
	Scheme *runtime.Scheme
	// Seed is the name of the seed, which exists.
	Seed string
	// Renewal is the time between two renewals of the lease.
	Renewal time.Duration
	// Report is the time between two reports on the seed, and on one of its shoots each time.
	Report time.Duration
	// Beat is told of each renewal: when it was due, when it was answered, and how.
	Beat func(due, answered time.Time, err error)
	// Asked is told how each other request has ended; those that begin a watch included.
	Asked func(what string, err error)

	client client.WithWatch
	shoots cache.Store
}

// Run works until ctx is done. Ready is called when all watches have shown what there is.
func (g *Gardenlet) Run(ctx context.Context, ready func()) error {
	var err error
	if g.client, err = client.NewWithWatch(g.Config, client.Options{Scheme: g.Scheme, Mapper: asked()}); err != nil {
		return fmt.Errorf("reach the garden as gardenlet of %q: %w", g.Seed, err)
	}
	own := client.MatchingLabels{gardencorev1beta1.LabelPrefixSeedName + g.Seed: "true"}
	seeds := g.informer(&gardencorev1beta1.Seed{}, &gardencorev1beta1.SeedList{}, own)
	shoots := g.informer(&gardencorev1beta1.Shoot{}, &gardencorev1beta1.ShootList{}, own)
	installations := g.informer(&gardencorev1beta1.ControllerInstallation{}, &gardencorev1beta1.ControllerInstallationList{},
		client.MatchingFields{gardencorev1beta1.FieldSeedRefName: g.Seed})
	g.shoots = shoots.GetStore()

	var group sync.WaitGroup
	defer group.Wait()
	synced := []cache.InformerSynced{}
	for _, informer := range []cache.SharedIndexInformer{seeds, shoots, installations} {
		group.Go(func() { informer.RunWithContext(ctx) })
		synced = append(synced, informer.HasSynced)
	}
	group.Go(func() { g.beat(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), synced...) {
		ready()
		g.report(ctx, seeds.GetStore())
	}

	return nil
}

// asked maps the kinds that a gardenlet asks for to resources, so that no client needs discovery.
func asked() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(gardencorev1beta1.GroupVersion.WithKind("Seed"), meta.RESTScopeRoot)
	mapper.Add(gardencorev1beta1.GroupVersion.WithKind("Shoot"), meta.RESTScopeNamespace)
	mapper.Add(gardencorev1beta1.GroupVersion.WithKind("ControllerInstallation"), meta.RESTScopeRoot)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)

	return mapper
}

// informer lists and watches like that of a manager, with the same pauses after errors.
func (g *Gardenlet) informer(object client.Object, list client.ObjectList, which client.ListOption) cache.SharedIndexInformer {
	options := func(o metav1.ListOptions) []client.ListOption {
		return []client.ListOption{&client.ListOptions{Raw: &o}, which}
	}
	what := fmt.Sprintf("%T", object)

	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			into, _ := list.DeepCopyObject().(client.ObjectList)
			err := g.client.List(ctx, into, options(o)...)
			g.tell(ctx, "list "+what, err)

			return into, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			into, _ := list.DeepCopyObject().(client.ObjectList)
			events, err := g.client.Watch(ctx, into, options(o)...)
			g.tell(ctx, "watch "+what, err)

			return events, err
		},
	}, object, 0, cache.Indexers{})
}

// tell tells of a request that was not cut off by the end.
func (g *Gardenlet) tell(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		g.Asked(what, err)
	}
}

// beat renews the lease, each time when it is due, which does not depend on how long the renewals before have taken. A renewal
// that fails is repeated with growing pauses, as the gardenlet does.
func (g *Gardenlet) beat(ctx context.Context) {
	due := time.Now().Add(rand.N(g.Renewal)) //nolint:gosec // not a secret
	for pause(ctx, time.Until(due)) {
		again := g.Renewal / 10
		for {
			err := g.renew(ctx)
			if ctx.Err() != nil {
				return
			}
			g.Beat(due, time.Now(), err)
			if err == nil || !pause(ctx, again) {
				break
			}
			again = min(2*again, g.Renewal)
		}
		for due = due.Add(g.Renewal); time.Until(due) < -g.Renewal; {
			due = due.Add(g.Renewal) // What was missed is not made up for.
		}
	}
}

func (g *Gardenlet) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.Renewal)
	defer cancel()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: g.Seed}}
	renewed := lease.Renewed(seed, g.Renewal, time.Now())
	patch, err := json.Marshal(map[string]any{"spec": renewed.Spec})
	if err != nil {
		return err
	}

	return g.client.Patch(ctx, renewed, client.RawPatch(types.MergePatchType, patch))
}

// report writes the status of the seed and of one shoot after the other. Shoots that are new are reported as created at once.
func (g *Gardenlet) report(ctx context.Context, seeds cache.Store) {
	first := time.Now().Add(rand.N(g.Report)) //nolint:gosec // not a secret
	for n := 0; ; n++ {
		for !time.Now().After(first.Add(time.Duration(n) * g.Report)) {
			for _, shoot := range g.all() {
				if shoot.Status.LastOperation == nil && shoot.DeletionTimestamp == nil {
					g.write(ctx, shoot, created(g.Seed, shoot))
				}
			}
			if !pause(ctx, min(g.Report, time.Second)) {
				return
			}
		}
		seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: g.Seed}}
		g.write(ctx, seed, map[string]any{"conditions": g.reported(seeds)})
		if shoots := g.all(); len(shoots) > 0 {
			g.write(ctx, shoots[n%len(shoots)], map[string]any{"conditions": conditions()})
		}
	}
}

// reported are the conditions of the seed, with those that others have written: a merge patch replaces the list.
func (g *Gardenlet) reported(seeds cache.Store) []gardencorev1beta1.Condition {
	own := []gardencorev1beta1.Condition{lasting(lease.Ready()), lasting(healthy(gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy))}
	object, _, _ := seeds.GetByKey(g.Seed)
	seed, ok := object.(*gardencorev1beta1.Seed)
	if !ok {
		return own
	}
	for _, c := range seed.Status.Conditions {
		if !slices.ContainsFunc(own, func(o gardencorev1beta1.Condition) bool { return o.Type == c.Type }) {
			own = append(own, c)
		}
	}

	return own
}

func (g *Gardenlet) all() []*gardencorev1beta1.Shoot {
	var all []*gardencorev1beta1.Shoot
	for _, object := range g.shoots.List() {
		if shoot, ok := object.(*gardencorev1beta1.Shoot); ok {
			all = append(all, shoot)
		}
	}

	return all
}

func (g *Gardenlet) write(ctx context.Context, object client.Object, status any) {
	patch, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		target, _ := object.DeepCopyObject().(client.Object)
		err = g.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	}
	g.tell(ctx, fmt.Sprintf("report %T", object), err)
}

func created(seed string, shoot *gardencorev1beta1.Shoot) map[string]any {
	return map[string]any{
		"seedName": seed, "observedGeneration": shoot.Generation, "technicalID": query.TechnicalID(strings.TrimPrefix(shoot.Namespace, "garden-"), shoot.Name),
		"lastOperation": gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
			Description: "The cluster is created", LastUpdateTime: metav1.Now(),
		},
		"conditions": conditions(),
	}
}

func conditions() []gardencorev1beta1.Condition {
	var all []gardencorev1beta1.Condition
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeAPIServerAvailable, gardencorev1beta1.ConditionTypeControlPlaneHealthy,
		gardencorev1beta1.ConditionTypeEveryNodeReady, gardencorev1beta1.ConditionTypeSystemComponentsHealthy,
	} {
		all = append(all, lasting(healthy(kind)))
	}

	return all
}

func healthy(kind gardencorev1beta1.ConditionType) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: kind, Status: gardencorev1beta1.ConditionTrue, Reason: "Healthy", Message: "All is well."}
}

func lasting(c gardencorev1beta1.Condition) gardencorev1beta1.Condition {
	c.LastUpdateTime, c.LastTransitionTime = metav1.Now(), metav1.Now()

	return c
}

// pause reports false when ctx is done first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
