// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
)

// TestListOfLongTexts has few entries with texts that are too long for one list: they are read in pages, and by watches.
func TestListOfLongTexts(t *testing.T) {
	t.Parallel()
	const count, text = 40, 1 << 20
	_, store := openReports(t, clock.RealClock{})
	var want []string
	for n := range count {
		name := fmt.Sprint("s", n)
		if err := store.Append(t.Context(), task("admin", "garden-a", name, text)); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	entries := entriesOf(store)
	ctx := genericapirequest.WithNamespace(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "admin"}), "garden-a")
	if _, err := entries.List(ctx, &metainternalversion.ListOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("a list without a limit of %d MiB: %v", count, err)
	}
	var got []string
	o := &metainternalversion.ListOptions{Limit: 500}
	for pages := 0; pages == 0 || o.Continue != ""; pages++ {
		page, err := entries.List(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		list := page.(*gardenappliancev1alpha1.TimelineEntryList)
		if len(list.Items)*text > 32<<20 || pages > count {
			t.Fatalf("page %d has %d entries of 1 MiB", pages, len(list.Items))
		}
		for i := range list.Items {
			got = append(got, list.Items[i].Subject.Name)
		}
		o.Continue = list.Continue
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the entries of all pages (-want +got):\n%s", diff)
	}
	w, err := entries.Watch(ctx, &metainternalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	got = slices.Delete(got, 0, len(got))
	for range want {
		e := next(t, w)
		if e.Type != watch.Added {
			t.Fatalf("received %v %v", e.Type, e.Object)
		}
		got = append(got, e.Object.(*gardenappliancev1alpha1.TimelineEntry).Subject.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the entries of a watch (-want +got):\n%s", diff)
	}
}

// TestListOfANamespaceAmongAll selects the entries of one namespace in a list of all.
func TestListOfANamespaceAmongAll(t *testing.T) {
	t.Parallel()
	_, store := openReports(t, clock.RealClock{})
	if err := store.Append(t.Context(), task("admin", "garden-a", "mine", 1), task("admin", "garden-b", "theirs", 1)); err != nil {
		t.Fatal(err)
	}
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "admin"})
	for selector, want := range map[string][]string{"": {"mine", "theirs"}, "metadata.namespace=garden-a": {"mine"}, "metadata.namespace=garden-c": nil} {
		found, err := entriesOf(store).List(ctx, &metainternalversion.ListOptions{FieldSelector: fields.ParseSelectorOrDie(selector)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range found.(*gardenappliancev1alpha1.TimelineEntryList).Items {
			got = append(got, item.Subject.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entries selected by %q (-want +got):\n%s", selector, diff)
		}
	}
}
