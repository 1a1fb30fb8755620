// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// restless are kinds whose objects come and go by themselves, whatever happens to a shoot. Everything else is compared.
var restless = []string{
	"componentstatuses",              // They are no objects: each is asked for at that moment.
	"events", "events.events.k8s.io", // They expire after a while, also those about what is gone.
	"leases.coordination.k8s.io",                     // A process that restarts may take another one, and those of the dead expire.
	"endpoints",                                      // They follow the pods and Services, which are compared.
	"endpointslices.discovery.k8s.io",                // The same, and their names are chosen at random.
	"snapshots.appliance.gardener.cloud",             // The server makes them by the clock.
	"timelines.appliance.gardener.cloud",             // They tell what has been, also of what is gone.
	"certificatesigningrequests.certificates.k8s.io", // They expire after an hour; a gardenlet that starts makes one.
}

// ownSuffix is what a ReplicaSet adds to the names of its pods: a program that was killed may run in another one.
var ownSuffix = regexp.MustCompile(`^(Pod garden/\S+)-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// inventory is what an API server holds: each object, by kind and name, with its content.
type inventory map[string]map[string]any

// inventory lists all objects of every kind that an API server offers.
func (w *world) inventory(t *testing.T, kube func(...string) []string) inventory {
	t.Helper()
	var kinds []string
	for kind := range strings.FieldsSeq(w.must(t, kube("api-resources", "--verbs=list", "-o", "name")...)) {
		if !slices.Contains(restless, strings.TrimSuffix(kind, ".")) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) < 30 {
		t.Fatalf("only %d kinds are offered: %q", len(kinds), kinds)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(w.must(t, kube("get", strings.Join(kinds, ","), "-A", "-o", "json")...)), &list); err != nil {
		t.Fatal(err)
	}
	all := inventory{}
	for _, item := range list.Items {
		metadata, _ := item["metadata"].(map[string]any)
		delete(metadata, "managedFields")
		if item["kind"] == "Pod" {
			delete(item, "status") // It has the last lines of what a killed program logged.
		}
		place, _ := metadata["namespace"].(string)
		key := fmt.Sprintf("%s %s/%s", item["kind"], place, metadata["name"])
		if parts := ownSuffix.FindStringSubmatch(key); parts != nil {
			key = parts[1]
		}
		all[key] = item
	}
	return all
}

// names are the objects with what holds them.
func (i inventory) names() []string {
	var names []string
	for key, item := range i {
		metadata, _ := item["metadata"].(map[string]any)
		names = append(names, fmt.Sprintf("%s held by %v", key, metadata["finalizers"]))
	}
	slices.Sort(names)
	return names
}

// mentioning are the objects in which one of the words is anywhere, with what is around it.
func (i inventory) mentioning(t *testing.T, words []string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for key, item := range i {
		content, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if at := strings.Index(string(content), word); at >= 0 {
				found[key] = string(content[max(0, at-80):min(len(content), at+80)])
				break
			}
		}
	}
	return found
}

// without leaves out some objects.
func (i inventory) without(some map[string]string) inventory {
	rest := maps.Clone(i)
	maps.DeleteFunc(rest, func(key string, _ map[string]any) bool {
		_, out := some[key]
		return out
	})
	return rest
}

// set is what is in a list, in whatever order and however often.
func set(all []string) map[string]bool {
	found := map[string]bool{}
	for _, one := range all {
		found[one] = true
	}
	return found
}

// stillThere compares what there is with what there was, and says what is new, what is missing, and what mentions one of the words. What
// mentioned one before may be gone. What is deleted in the background has a while to go.
func (w *world) stillThere(t *testing.T, within time.Duration, before map[string]inventory, words []string) {
	t.Helper()
	for place, kube := range map[string]func(...string) []string{"seed": w.seed, "garden": w.garden} {
		mayGo := before[place].mentioning(t, words)
		want := set(before[place].without(mayGo).names())
		w.eventually(t, within, "the "+place+" is as it was before", func() (bool, string) {
			now := w.inventory(t, kube)
			var why strings.Builder
			if diff := cmp.Diff(want, set(now.without(mayGo).names())); diff != "" {
				fmt.Fprintf(&why, "objects (-want +got):\n%s", diff)
			}
			found := now.mentioning(t, words)
			for _, key := range slices.Sorted(maps.Keys(found)) {
				fmt.Fprintf(&why, "remembers a shoot: %s: …%s…\n", key, found[key])
			}
			return why.Len() == 0, why.String()
		})
	}
}
