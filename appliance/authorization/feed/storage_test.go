// SPDX-License-Identifier: Apache-2.0

package feed_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
)

// shoots is a storage whose cache has one shoot. Its watches deliver copies of what was written, as those of a watch cache do.
type shoots struct {
	rest.Lister

	cached *gardencorev1beta1.Shoot
	events *watch.FakeWatcher
}

func (*shoots) New() runtime.Object { return &gardencorev1beta1.Shoot{} }
func (*shoots) Destroy()            {}

func (s *shoots) Watch(context.Context, *metainternalversion.ListOptions) (watch.Interface, error) {
	return s.events, nil
}

func (s *shoots) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	if o.ResourceVersion != "0" || name != s.cached.Name || request.NamespaceValue(ctx) != s.cached.Namespace {
		return nil, apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), name)
	}

	return s.cached, nil
}

// listless has what it takes to list, which is not asked for.
type listless struct{ rest.Lister }

func written(name, uid, version string) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-a", Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

// TestEventsShareTheCache has a watch within the process deliver the objects of the cache, where these are the same, and what was
// delivered where the cache is ahead or has no such object.
func TestEventsShareTheCache(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		event  watch.Event
		shared bool
	}{
		"change":  {"the cache has it", watch.Event{Type: watch.Modified, Object: written("a", "1", "7")}, true},
		"new":     {"one that is new too", watch.Event{Type: watch.Added, Object: written("a", "1", "7")}, true},
		"behind":  {"the cache is ahead, and no event is left out", watch.Event{Type: watch.Modified, Object: written("a", "1", "6")}, false},
		"other":   {"it is another object of that name", watch.Event{Type: watch.Modified, Object: written("a", "2", "7")}, false},
		"missing": {"the cache does not have it any more", watch.Event{Type: watch.Modified, Object: written("b", "1", "7")}, false},
		"deleted": {"a deletion has the last state", watch.Event{Type: watch.Deleted, Object: written("a", "1", "7")}, false},
		"error":   {"an error is no object of the kind", watch.Event{Type: watch.Error, Object: &metav1.Status{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shoots{Lister: listless{}, cached: written("a", "1", "7"), events: watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})}
			from, err := feed.FromStorage(s)
			if err != nil {
				t.Fatal(err)
			}
			w, err := from.WatchWithContext(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			s.events.Action(tc.event.Type, tc.event.Object)
			got := <-w.ResultChan()
			want := tc.event.Object
			if tc.shared {
				want = s.cached
			}
			same := cmp.Comparer(func(a, b runtime.Object) bool { return a == b })
			if diff := cmp.Diff(watch.Event{Type: tc.event.Type, Object: want}, got, same); diff != "" {
				t.Errorf("%s: received another event, or an object that is only equal (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
