// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// tally counts the shoots of each seed by what they may need there. Most shoots need what others of their seed need already, and
// then nothing has to be decided anew: 500 new shoots start as many passes as there are sorts of them on each seed.
type tally struct {
	mu     sync.Mutex
	shoots map[types.NamespacedName]entry
	seeds  map[string]map[string]int
}

// entry is a shoot with its sort.
type entry struct {
	seeds []string
	sort  string
}

func newTally() *tally {
	return &tally{shoots: map[types.NamespacedName]entry{}, seeds: map[string]map[string]int{}}
}

// sortOf is the same for shoots that need the same, on the same seed and with the same registrations and domains. Of a domain it
// has what decides below which others it lies.
func sortOf(shoot *gardencorev1beta1.Shoot) string {
	type pool struct {
		Image    string
		Runtimes []string
	}
	facts := struct {
		Provider   string
		Network    *string
		Pools      []pool
		Extensions []gardencorev1beta1.Extension
		DNS        *string
		Parent     string
	}{Provider: shoot.Spec.Provider.Type}
	_, facts.Parent, _ = strings.Cut(query.Domain(shoot.Spec.DNS), ".")
	if provider := query.PrimaryProvider(shoot.Spec.DNS); provider != nil {
		facts.DNS = provider.Type
	}
	if networking := shoot.Spec.Networking; networking != nil {
		facts.Network = networking.Type
	}
	for _, worker := range shoot.Spec.Provider.Workers {
		var p pool
		if worker.Machine.Image != nil {
			p.Image = worker.Machine.Image.Name
		}
		if worker.CRI != nil {
			for _, runtime := range worker.CRI.ContainerRuntimes {
				p.Runtimes = append(p.Runtimes, runtime.Type)
			}
		}
		facts.Pools = append(facts.Pools, p)
	}
	for _, extension := range shoot.Spec.Extensions {
		extension.ProviderConfig = nil
		facts.Extensions = append(facts.Extensions, extension)
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return shoot.Namespace + "/" + shoot.Name // A sort of its own.
	}
	return string(text)
}

// set notes a shoot and returns the seeds of which the sorts have changed.
func (t *tally) set(shoot *gardencorev1beta1.Shoot) []string {
	return t.replace(client.ObjectKeyFromObject(shoot), entry{seeds: query.Seeds(shoot), sort: sortOf(shoot)})
}

// remove forgets a shoot and returns the seeds of which the sorts have changed.
func (t *tally) remove(shoot *gardencorev1beta1.Shoot) []string {
	return t.replace(client.ObjectKeyFromObject(shoot), entry{})
}

func (t *tally) replace(key types.NamespacedName, with entry) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.shoots[key]
	if t.shoots[key] = with; len(with.seeds) == 0 {
		delete(t.shoots, key)
	}
	var changed []string
	for _, seed := range with.seeds { // The new one first, so that a shoot that stays as it is changes nothing.
		if t.seeds[seed] == nil {
			t.seeds[seed] = map[string]int{}
		}
		if t.seeds[seed][with.sort]++; t.seeds[seed][with.sort] == 1 {
			changed = append(changed, seed)
		}
	}
	for _, seed := range was.seeds {
		if t.seeds[seed][was.sort]--; t.seeds[seed][was.sort] > 0 {
			continue
		}
		if delete(t.seeds[seed], was.sort); len(t.seeds[seed]) == 0 {
			delete(t.seeds, seed)
		}
		changed = append(changed, seed)
	}
	return changed
}

// events enqueues the seeds of which the sorts have changed.
func (t *tally) events() handler.EventHandler {
	enqueue := func(queue workqueue.TypedRateLimitingInterface[reconcile.Request], seeds []string) {
		for _, seed := range seeds {
			queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: seed}})
		}
	}
	follow := func(object client.Object, note func(*gardencorev1beta1.Shoot) []string) []string {
		shoot, ok := object.(*gardencorev1beta1.Shoot)
		if !ok {
			return nil
		}
		return note(shoot)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(queue, follow(e.Object, t.set))
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(queue, follow(e.ObjectNew, t.set))
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(queue, follow(e.Object, t.remove))
		},
	}
}
