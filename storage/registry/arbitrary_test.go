// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/apis/scheme/arbitrary"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

const attempts = 60

// TestArbitraryObjects sends objects of any form through all that a store does before it writes: whatever a client comes
// up with, the answer is a refusal or an object, never a panic.
func TestArbitraryObjects(t *testing.T) {
	t.Parallel()
	groups, options := registrytest.Groups(t)
	for _, group := range groups {
		for version, resources := range group.VersionedResourcesStorageMap {
			for name, storage := range resources {
				store, ok := storage.(*kind.Store)
				if !ok {
					continue
				}
				t.Run(version+"/"+name, func(t *testing.T) {
					t.Parallel()
					for seed := range byte(attempts) {
						attempt(t, options, store, seed)
					}
				})
			}
		}
	}
}

func attempt(t *testing.T, o kind.Options, store *kind.Store, seed byte) {
	t.Helper()
	now, old := written(t, o, store, seed), written(t, o, store, seed/2)
	if now == nil || old == nil {
		return
	}
	ctx := kindtest.Context(t, namespaceOf(now), "rose")
	table := func(obj runtime.Object) {
		if _, err := store.ConvertToTable(ctx, obj, &metav1.TableOptions{}); err != nil {
			t.Errorf("attempt %d: print: %v", seed, err)
		}
	}
	fresh := now.DeepCopyObject()
	_ = rest.BeforeCreate(store.CreateStrategy, ctx, fresh) // A refusal is fine.
	_ = store.CreateStrategy.WarningsOnCreate(ctx, fresh)
	table(fresh)
	identify(now, old)
	_ = rest.BeforeUpdate(store.UpdateStrategy, ctx, now, old) // A refusal is fine.
	_ = store.UpdateStrategy.WarningsOnUpdate(ctx, now, old)
	store.UpdateStrategy.Canonicalize(now)
	table(now)
	name, err := store.ObjectNameFunc(now)
	if err != nil {
		t.Fatalf("attempt %d: name: %v", seed, err)
	}
	if diff := cmp.Diff(nameOf(now), name); diff != "" {
		t.Errorf("attempt %d: name (-want +got):\n%s", seed, diff)
	}
}

// written is an object made of noise, as it is read from what a client writes.
func written(t *testing.T, o kind.Options, store *kind.Store, seed byte) runtime.Object {
	t.Helper()
	noise := make([]byte, 16<<10)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(noise) // It never fails.
	made := store.New()
	arbitrary.From(noise).Fill(made)
	data, err := json.Marshal(made)
	if err != nil {
		return nil
	}
	obj := store.New()
	if err := json.Unmarshal(data, obj); err != nil {
		return nil
	}
	o.Scheme.Default(obj)
	return obj
}

func nameOf(obj runtime.Object) string {
	if o, ok := obj.(metav1.Object); ok {
		return o.GetName()
	}

	return ""
}

func namespaceOf(obj runtime.Object) string {
	if o, ok := obj.(metav1.Object); ok {
		return o.GetNamespace()
	}
	return ""
}

// identify makes two objects versions of one.
func identify(now, old runtime.Object) {
	n, ok := now.(metav1.Object)
	if !ok {
		return
	}
	o, ok := old.(metav1.Object)
	if !ok {
		return
	}
	o.SetName(n.GetName())
	o.SetNamespace(n.GetNamespace())
	o.SetResourceVersion("1")
	n.SetResourceVersion("1")
}
