// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errKilled = errors.New("the resource manager has been killed")

// mortal is the way of a resource manager to its seed, until a last request: that one is carried out, but its answer is lost, and so is
// every further request. It is what a process leaves behind that is killed at that moment.
type mortal struct {
	next http.RoundTripper
	last func(*http.Request) bool
	die  func()
	dead <-chan struct{}
}

func (m *mortal) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case <-m.dead:
		return nil, errKilled
	default:
	}
	response, err := m.next.RoundTrip(request)
	if err != nil || !m.last(request) {
		return response, err
	}
	m.die() // Others may have been on their way at that moment.
	return nil, errors.Join(errKilled, response.Body.Close())
}

// sent says of a request whether it has a verb and a path that ends like that.
func sent(method, path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, path) }
}

// begin runs a resource manager until it is told to stop.
func (s *stage) begin(options resourcemanager.Options) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan error, 1)
	go func() { done <- resourcemanager.Run(ctx, options) }()
	return func() error {
		cancel()
		return <-done
	}
}

// kill runs a resource manager until its last request, and waits until nothing of it is left.
func (s *stage) kill(options resourcemanager.Options, last func(*http.Request) bool) {
	s.t.Helper()
	ctx, die := context.WithCancel(context.WithoutCancel(s.t.Context()))
	defer die()
	options.Seed = rest.CopyConfig(options.Seed)
	options.Seed.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &mortal{next: next, last: last, die: die, dead: ctx.Done()}
	})
	stop := s.begin(options)
	s.eventually("the resource manager is killed", func(context.Context) error {
		if ctx.Err() == nil {
			return errors.New("it has not come so far")
		}
		return nil
	})
	_ = stop() // What it had to say died with it.
}

// while runs a resource manager while something is done.
func (s *stage) while(options resourcemanager.Options, do func()) {
	s.t.Helper()
	stop := s.begin(options)
	defer func() {
		if err := stop(); err != nil {
			s.t.Errorf("resource manager: %v", err)
		}
	}()
	do()
}

// killing is a resource manager that is killed.
type killing struct {
	name, reason string
	// before are the objects that are settled, during those over which the resource manager is killed, and after those that the next one
	// finds in the manifests: names and what each holds. Without them, the ManagedResource is being deleted.
	before, during, after map[string]string
	last                  func(*http.Request) bool
	// untouched are objects that the next one finds as they have to be, and does not write again.
	untouched []string
}

// killings are those at each point of a run at which it matters what it has done and not written down yet.
func killings() []killing {
	const status = "/managedresources/mortal/status"
	type objects = map[string]string
	object := func(name string) string { return "/namespaces/default/configmaps/" + name }
	return []killing{
		{
			name: "Announced", reason: "the objects are written down, and none exists yet; one of them is not wanted any more",
			during: objects{"a": "1", "b": "1"}, after: objects{"b": "2"}, last: sent(http.MethodPatch, status),
		},
		{
			name: "Between", reason: "one of two objects is applied",
			during: objects{"a": "1", "b": "1"}, after: objects{"a": "1", "b": "1"}, last: sent(http.MethodPatch, object("a")), untouched: []string{"a"},
		},
		{
			name: "Applied", reason: "all objects are applied, and the status does not say so",
			during: objects{"a": "1", "b": "1"}, after: objects{"a": "1", "b": "1"}, last: sent(http.MethodPatch, object("b")), untouched: []string{"a", "b"},
		},
		{
			name: "AppliedAndUnwanted", reason: "what is applied is not wanted any more when the next one comes",
			before: objects{"a": "1"}, during: objects{"a": "2", "b": "2"}, after: objects{"c": "3"}, last: sent(http.MethodPatch, object("b")),
		},
		{
			name: "Pruned", reason: "what left the manifests is deleted, and what came is not applied",
			before: objects{"a": "1", "b": "1"}, during: objects{"a": "2"}, after: objects{"a": "2"}, last: sent(http.MethodDelete, object("b")),
		},
		{
			name: "PrunedAndBack", reason: "what was deleted is wanted again",
			before: objects{"a": "1", "b": "1"}, during: objects{"a": "2"}, after: objects{"a": "2", "b": "1"}, last: sent(http.MethodDelete, object("b")),
		},
		{
			name: "Deleted", reason: "one of two objects of a ManagedResource in deletion is deleted",
			before: objects{"a": "1", "b": "1"}, last: sent(http.MethodDelete, object("a")),
		},
	}
}

// TestKilled kills one resource manager after the other. The manifests may change before there is the next one, which has to come to the same end as
// if nothing had happened.
//
//nolint:tparallel // Each has the seed for itself, because starting one takes longer.
func TestKilled(t *testing.T) {
	t.Parallel()
	seed := emptyStage(t)
	options := resourcemanager.Options{Seed: seed.seed.Config, SyncPeriod: period, Log: logr.Discard()}
	for _, k := range killings() { //nolint:paralleltest // See above.
		t.Run(k.name, func(t *testing.T) {
			s := &stage{Client: seed.Client, t: t, seed: seed.seed}
			mr := s.deliver("mortal", "seed", configMaps(k.before))
			if k.before != nil {
				s.while(options, func() { s.conditions(mr, settled()) })
			}
			if k.during != nil {
				s.rewrite(mr.Name, configMaps(k.during))
			} else if err := s.Delete(t.Context(), mr); err != nil {
				t.Fatal(err)
			}
			s.kill(options, k.last)
			before := s.versions(k.untouched)
			if k.after != nil {
				s.rewrite(mr.Name, configMaps(k.after))
			}
			s.while(options, func() {
				s.checkEnd(mr, k)
				if diff := cmp.Diff(before, s.versions(k.untouched)); diff != "" {
					t.Errorf("%s: the next one wrote again what was right (-before +after):\n%s", k.reason, diff)
				}
				if err := s.Delete(t.Context(), mr); client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				s.gone(mr)
			})
			if err := s.Delete(t.Context(), secret(mr.Name, nil)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// checkEnd waits until there are the objects that are wanted and no others, and until the status says so.
func (s *stage) checkEnd(mr *gardenresourcesv1alpha1.ManagedResource, k killing) {
	s.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		want, wanted := k.after[name]
		if !wanted {
			holds(s.t, s, name, "-")
			continue
		}
		live := holds(s.t, s, name, "x="+want)
		if diff := cmp.Diff([]string{"gardener-resource-manager Apply"}, owners(live)); diff != "" {
			s.t.Errorf("%s: owners of object %q (-want +got):\n%s", k.reason, name, diff)
		}
	}
	if k.after == nil {
		s.gone(mr)
		return
	}
	s.conditions(mr, settled())
	s.listed(mr, k.after)
}

// listed waits until the status has exactly these objects.
func (s *stage) listed(mr *gardenresourcesv1alpha1.ManagedResource, want map[string]string) {
	s.t.Helper()
	harness.Await(s.t, s.Client, mr, "the status lists what is in the manifests", func(mr *gardenresourcesv1alpha1.ManagedResource) error {
		var names []string
		for _, r := range mr.Status.Resources {
			names = append(names, r.Name)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), names); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

// configMaps are manifests of ConfigMaps, in the order of their names.
func configMaps(contents map[string]string) manifests {
	texts := make([]string, 0, len(contents))
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		texts = append(texts, configMap(name, "x: '"+contents[name]+"'"))
	}
	return manifests{"a.yaml": strings.Join(texts, "---\n")}
}

// versions are the identities and resource versions of ConfigMaps.
func (s *stage) versions(names []string) map[string]string {
	s.t.Helper()
	found := map[string]string{}
	for _, name := range names {
		live := &corev1.ConfigMap{}
		if err := s.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, live); err != nil {
			s.t.Fatal(err)
		}
		found[name] = fmt.Sprintf("%s at %s", live.UID, live.ResourceVersion)
	}
	return found
}

// owners are those who own fields of an object.
func owners(object client.Object) []string {
	managers := make([]string, 0, 1)
	for _, entry := range object.GetManagedFields() {
		managers = append(managers, fmt.Sprintf("%s %s", entry.Manager, entry.Operation))
	}
	return managers
}
