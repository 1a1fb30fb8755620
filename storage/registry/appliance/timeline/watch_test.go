// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	local "github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// task is an entry of a shoot in a namespace.
func task(who, namespace, name string, text int) *local.Entry {
	e := &local.Entry{
		Type: gardenappliancev1alpha1.TimelineEntryTask, User: who, Time: metav1.NewMicroTime(time.Now()),
		Subject: gardenappliancev1alpha1.TimelineSubject{Kind: "Shoot", Namespace: namespace, Name: name},
		Task:    &gardenappliancev1alpha1.TimelineTask{Title: strings.Repeat("t", text)},
	}
	e.Namespace = namespace

	return e
}

// entriesOf returns the storage of a timeline that everybody may read.
func entriesOf(store *local.Store) *timeline.Entries {
	return timeline.NewEntries(timeline.Settings{
		Store: store, Clock: clock.RealClock{},
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		}),
		Client: func(user.Info) (timeline.Client, bool) { return timeline.Client{}, false },
		Born:   func(context.Context, string) (time.Time, error) { return time.Time{}, nil },
	})
}

// TestWatchOfTheStateBesideRemovedEntries begins watches with more entries than are read at a time, after later entries of a seed were
// removed because it has written too many. They are told of all that is left, and of what comes.
func TestWatchOfTheStateBesideRemovedEntries(t *testing.T) {
	t.Parallel()

	const kept, size, flood = 1200, 2 << 20, 2000
	store, err := local.Open(local.Config{Dir: t.TempDir(), Keep: time.Hour, MaxBytes: size, Clock: clock.RealClock{}, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for n := range kept {
		store.Offer(task("admin", "garden-a", fmt.Sprintf("s%d", n), 10))
	}
	for n := 0; n < 2*size/flood || !errors.Is(store.Reaches(kept), local.ErrExpired); n++ {
		if err := store.Append(t.Context(), task(gardencorev1beta1.UserPrefixSeed+"loud", "garden-b", "flood", flood)); err != nil {
			t.Fatal(err)
		}
	}
	entries := entriesOf(store)
	ctx := genericapirequest.WithNamespace(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "admin"}), "garden-a")
	watches := map[string]watch.Interface{}
	for name, o := range map[string]*metainternalversion.ListOptions{
		"without a version": {}, "from version 0": {ResourceVersion: "0"},
		"with the state": {SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
	} {
		w, err := entries.Watch(ctx, o)
		if err != nil {
			t.Errorf("%s: Watch(...): %v", name, err)

			continue
		}
		for n := range kept {
			if got := next(t, w); got.Type != watch.Added || got.Object.(*local.Entry).Subject.Name != fmt.Sprintf("s%d", n) {
				t.Fatalf("%s: received %v %v; want entry %d", name, got.Type, got.Object, n)
			}
		}
		if o.SendInitialEvents != nil {
			if got := next(t, w); got.Type != watch.Bookmark {
				t.Errorf("%s: received %v %v; want a bookmark", name, got.Type, got.Object)
			}
		}
		watches[name] = w
	}
	if err := store.Append(t.Context(), task("admin", "garden-a", "new", 10)); err != nil {
		t.Fatal(err)
	}
	for name, w := range watches {
		if got := next(t, w); got.Type != watch.Added || got.Object.(*local.Entry).Subject.Name != "new" {
			t.Errorf("%s: received %v %v; want the new entry", name, got.Type, got.Object)
		}
		w.Stop()
	}
	w, err := entries.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: "1"})
	if err == nil {
		w.Stop()
		t.Error("a watch from a version goes on although later entries were removed")
	}
}

// next is the next event of a watch.
func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, open := <-w.ResultChan():
		if !open {
			t.Fatal("the watch has ended")
		}

		return e
	case <-time.After(time.Minute):
		t.Fatal("nothing comes")
	}

	return watch.Event{}
}
