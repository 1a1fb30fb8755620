// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestMetadataSharesWithObjects reads the metadata of an object that others read as well.
func TestMetadataSharesWithObjects(t *testing.T) {
	t.Parallel()
	shoot := func(version string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "garden-local", Name: "one", UID: "an-id", ResourceVersion: version, Labels: map[string]string{"a": "b"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
			},
		}
	}
	want := func(version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "garden-local", Name: "one", UID: "an-id", ResourceVersion: version, Labels: map[string]string{"a": "b"},
			},
		}
	}
	events := watch.NewFakeWithChanSize(4, false)
	listed := &gardencorev1beta1.ShootList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"}, Items: []gardencorev1beta1.Shoot{*shoot("5")}}
	source := cache.ToListerWatcherWithContext(metadataOf(&cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return listed, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return events, nil },
	}, gardencorev1beta1.GroupVersion.WithKind("Shoot")))

	list, err := source.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantList := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"}, Items: []metav1.PartialObjectMetadata{*want("5")}}
	if diff := cmp.Diff(runtime.Object(wantList), list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	listed.Items[0].Labels["a"] = "c" // Nobody may do that; it shows whether anything was copied.
	if got, ok := list.(*metav1.PartialObjectMetadataList); ok && got.Items[0].Labels["a"] != "c" {
		t.Error("the labels were copied")
	}
	if len(listed.Items[0].ManagedFields) != 1 {
		t.Error("the object of others has lost its managed fields")
	}

	events.Add(shoot("10"))
	events.Delete(shoot("11"))
	events.Action(watch.Bookmark, &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "12"}})
	gone := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired}
	events.Error(gone)
	seen, err := source.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()
	mark := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "12"},
	}
	for _, want := range []watch.Event{
		{Type: watch.Added, Object: want("10")}, {Type: watch.Deleted, Object: want("11")}, {Type: watch.Bookmark, Object: mark},
		{Type: watch.Error, Object: gone},
	} {
		if diff := cmp.Diff(want, <-seen.ResultChan()); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}
