// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	local "github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// shoots has one Shoot, which has the UID.
type shoots map[string]types.UID

func (s shoots) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	uid, ok := s[name]
	if !ok {
		return nil, apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), name)
	}

	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}, nil
}

// lives has the timeline of a shoot that was removed and came again, of which the user seed is a client. may says whether reading it is allowed.
func lives(t *testing.T, there shoots, may func() bool) (*timeline.Entries, *local.Store) {
	t.Helper()
	_, store := openReports(t, clock.RealClock{})
	for _, uid := range []types.UID{"first", "second"} {
		entry := task("admin", "garden-a", "mine", 1)
		entry.Subject.UID, entry.Task.Title = uid, string(uid)
		if err := store.Append(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}

	return timeline.NewEntries(timeline.Settings{
		Store: store, Clock: clock.RealClock{}, Objects: map[string]rest.Getter{"Shoot": there},
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			if !may() {
				return authorizer.DecisionNoOpinion, "", nil
			}

			return authorizer.DecisionAllow, "", nil
		}),
		Client: func(who user.Info) (timeline.Client, bool) {
			return timeline.Client{Seed: "one"}, who.GetName() == "seed"
		},
		Born: func(context.Context, string) (time.Time, error) { return time.Time{}, nil },
	}), store
}

func always() bool { return true }

func mine() *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{FieldSelector: fields.ParseSelectorOrDie("subject.kind=Shoot,subject.name=mine")}
}

func acting(t *testing.T, name string) context.Context {
	t.Helper()

	return genericapirequest.WithNamespace(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}), "garden-a")
}

// TestEarlierLife: a shoot of the same name may have been on another seed before, whose gardenlet is told of it. That of the seed of today is not.
func TestEarlierLife(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, who string
		there       shoots
		want        []string
	}{
		"person": {"a user of the project reads what became of the earlier one", "rose", shoots{"mine": "second"}, []string{"first", "second"}},
		"seed":   {"a client of a seed reads of the one that is there", "seed", shoots{"mine": "second"}, []string{"second"}},
		"gone":   {"and of none that is gone", "seed", shoots{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, _ := lives(t, tc.there, always)
			listed, err := entries.List(acting(t, tc.who), mine())
			if err != nil {
				t.Fatal(err)
			}
			var got, read []string
			for _, item := range listed.(*gardenappliancev1alpha1.TimelineEntryList).Items {
				got = append(got, item.Task.Title)
			}
			for number := range uint64(2) {
				found, err := entries.Get(acting(t, tc.who), local.Name(number+1), &metav1.GetOptions{})
				if err == nil {
					read = append(read, found.(*gardenappliancev1alpha1.TimelineEntry).Task.Title)
				} else if !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
			}
			for door, of := range map[string][]string{"list": got, "get": read} {
				if diff := cmp.Diff(tc.want, of); diff != "" {
					t.Errorf("%s, by %s (-want +got):\n%s", tc.reason, door, diff)
				}
			}
		})
	}
}

// TestWatchOfASeed: a watch by a client of a seed tells of the object that was there when it began, and ends when that belongs to another seed.
func TestWatchOfASeed(t *testing.T) {
	t.Parallel()
	moved := make(chan struct{})
	entries, store := lives(t, shoots{"mine": "second"}, func() bool {
		select {
		case <-moved:
			return false
		default:
			return true
		}
	})
	w, err := entries.Watch(acting(t, "seed"), mine())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := next(t, w); e.Type != watch.Added || e.Object.(*gardenappliancev1alpha1.TimelineEntry).Task.Title != "second" {
		t.Fatalf("the watch begins with %v %v, want the second life", e.Type, e.Object)
	}
	close(moved)
	for _, uid := range []types.UID{"third", "second"} {
		entry := task("admin", "garden-a", "mine", 1)
		entry.Subject.UID, entry.Task.Title = uid, string(uid)
		if err := store.Append(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	e := next(t, w)
	status, ok := e.Object.(*metav1.Status)
	if e.Type != watch.Error || !ok || status.Reason != metav1.StatusReasonForbidden {
		t.Errorf("the watch goes on with %v %v, want an error with reason Forbidden", e.Type, e.Object)
	}
}
