// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
)

// secrets is a store with one Secret, which its reader must not change.
type secrets struct {
	rest.Lister
	rest.Watcher

	list   *core.SecretList
	events watch.Interface
}

func (secrets) New() runtime.Object { return &core.Secret{} }

func (secrets) Destroy() {}

func (s secrets) List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error) {
	return s.list, nil
}

func (s secrets) Watch(context.Context, *metainternalversion.ListOptions) (watch.Interface, error) {
	return s.events, nil
}

// TestObjectsOfKubernetesAreShared reads Secrets as informers do. A copy of all of them for each informer would be in memory for as long as
// the Secrets are there.
func TestObjectsOfKubernetesAreShared(t *testing.T) {
	t.Parallel()
	events := watch.NewFakeWithChanSize(1, false)
	secret := func() *core.Secret {
		return &core.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}, Data: map[string][]byte{"a": []byte("b")}}
	}
	store := secrets{list: &core.SecretList{Items: []core.Secret{*secret()}}, events: events}
	from := newSources()
	from.addConverted("", genericapiserver.APIGroupInfo{
		Scheme: legacyscheme.Scheme, VersionedResourcesStorageMap: map[string]map[string]rest.Storage{"v1": {"secrets": store}},
	})
	source := cache.ToListerWatcherWithContext(from.later(&corev1.Secret{}))

	list, err := source.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listed, ok := list.(*corev1.SecretList)
	if !ok || len(listed.Items) != 1 {
		t.Fatalf("got %T %v, want a Secret", list, list)
	}
	changed := secret()
	events.Modify(changed)
	seen, err := source.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()
	event := <-seen.ResultChan()
	got, ok := event.Object.(*corev1.Secret)
	if !ok {
		t.Fatalf("got %T in an event, want a Secret", event.Object)
	}
	// Nobody may change them; it shows whether anything was copied.
	store.list.Items[0].Data["a"][0], changed.Data["a"][0] = 'c', 'c'
	if string(listed.Items[0].Data["a"]) != "c" || string(got.Data["a"]) != "c" {
		t.Errorf("the data were copied: %q in the list, %q in the event", listed.Items[0].Data["a"], got.Data["a"])
	}
	if _, err := withoutManagers(got); err != nil || len(got.ManagedFields) != 0 || len(changed.ManagedFields) != 1 {
		t.Errorf("an informer has %d managed fields, and the object of others %d (error %v), want 0 and 1", len(got.ManagedFields), len(changed.ManagedFields), err)
	}
}
