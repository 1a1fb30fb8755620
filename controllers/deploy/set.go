// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	inventoryPrefix = "inventory-"
	inventoryKey    = "objects"
)

// Set names a group of objects that are created and deleted together. The ConfigMap inventory-<name> in its namespace, in the
// same cluster, lists the objects that belong to it.
type Set struct {
	Namespace string
	Name      string
}

// member is an entry of an inventory.
type member struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// identity leaves the version out: an object that is written in another version is still the same object.
func (m member) identity() member {
	m.Version = ""
	return m
}

func (m member) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: m.Group, Version: m.Version, Kind: m.Kind}
}

// object is an object of that identity and nothing else.
func (m member) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(m.kind())
	u.SetNamespace(m.Namespace)
	u.SetName(m.Name)
	return u
}

// ApplySet applies the objects and deletes those that belonged to the set before and no longer do. Even if it is interrupted,
// the inventory lists every object that exists.
func (e Engine) ApplySet(ctx context.Context, set Set, objs ...client.Object) error {
	wanted, err := e.members(objs)
	if err != nil {
		return err
	}
	recorded, _, err := e.inventory(ctx, set)
	if err != nil {
		return err
	}
	stale := without(recorded, wanted)
	if all := sorted(slices.Concat(wanted, stale)); !slices.Equal(all, recorded) {
		if err := e.record(ctx, set, all); err != nil {
			return err
		}
	}
	if err := e.Apply(ctx, objs...); err != nil {
		return err
	}
	if len(stale) == 0 {
		return nil
	}
	if err := e.Delete(ctx, objects(stale)...); err != nil {
		return err
	}
	return e.record(ctx, set, sorted(wanted))
}

// DeleteSet deletes everything that belongs to the set, and finally its inventory. It does not wait: the caller repeats it
// until done is true.
func (e Engine) DeleteSet(ctx context.Context, set Set) (done bool, err error) {
	recorded, found, err := e.inventory(ctx, set)
	if err != nil || !found {
		return !found, err
	}
	all := objects(recorded)
	if err := e.Delete(ctx, all...); err != nil {
		return false, err
	}
	left, err := e.remaining(ctx, all)
	if err != nil || len(left) > 0 {
		return false, err
	}
	return true, e.Delete(ctx, inventoryOf(set))
}

// HandOver ends a set whose objects somebody else applies by now: those that are not among the given ones are deleted, and the others
// lose this owner of their fields. It is safe to repeat.
func (e Engine) HandOver(ctx context.Context, set Set, objs ...client.Object) error {
	kept, err := e.members(objs)
	if err != nil {
		return err
	}
	recorded, found, err := e.inventory(ctx, set)
	if err != nil || !found {
		return err
	}
	if err := e.Delete(ctx, objects(without(recorded, kept))...); err != nil {
		return err
	}
	for _, m := range kept {
		if len(without([]member{m}, recorded)) > 0 {
			continue
		}
		if _, err := e.ApplyOne(ctx, m.object()); err != nil {
			return err
		}
	}

	return e.Delete(ctx, inventoryOf(set))
}

// SetMembers returns stubs of everything that belongs to the set, and nothing if there is no such set.
func (e Engine) SetMembers(ctx context.Context, set Set) ([]client.Object, error) {
	recorded, _, err := e.inventory(ctx, set)
	return objects(recorded), err
}

func inventoryOf(set Set) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: inventoryPrefix + set.Name}}
}

func (e Engine) inventory(ctx context.Context, set Set) (recorded []member, found bool, err error) {
	u, err := e.get(ctx, inventoryOf(set))
	if err != nil || u == nil {
		return nil, false, err
	}
	data, _, err := unstructured.NestedString(u.Object, "data", inventoryKey)
	if err != nil {
		return nil, false, fmt.Errorf("read inventory %s: %w", describe(u), err)
	}
	if data == "" {
		return nil, true, nil
	}
	if err := json.Unmarshal([]byte(data), &recorded); err != nil {
		return nil, false, fmt.Errorf("read inventory %s: %w", describe(u), err)
	}
	return recorded, true, nil
}

func (e Engine) record(ctx context.Context, set Set, members []member) error {
	data, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("write inventory %q: %w", set.Name, err)
	}
	inventory := inventoryOf(set)
	inventory.Data = map[string]string{inventoryKey: string(data)}
	return e.Apply(ctx, inventory)
}

func sorted(members []member) []member {
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return members
}

func (e Engine) members(objs []client.Object) ([]member, error) {
	members := make([]member, 0, len(objs))
	for _, obj := range objs {
		m, err := e.memberOf(obj)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

func (e Engine) memberOf(obj client.Object) (member, error) {
	gvk, err := apiutil.GVKForObject(obj, e.Client.Scheme())
	if err != nil {
		return member{}, fmt.Errorf("find the kind of object %q: %w", obj.GetName(), err)
	}
	return member{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}, nil
}

// without returns the members of all that are not in some.
func without(all, some []member) []member {
	return slices.DeleteFunc(slices.Clone(all), func(m member) bool {
		return slices.ContainsFunc(some, func(o member) bool { return o.identity() == m.identity() })
	})
}

func objects(members []member) []client.Object {
	objs := make([]client.Object, 0, len(members))
	for _, m := range members {
		objs = append(objs, m.object())
	}
	return objs
}
