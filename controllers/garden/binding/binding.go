// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Kind is a kind of bindings.
type Kind struct {
	// Name is the name of the controller.
	Name string
	// Object is an empty binding and List an empty list. Others is a list of the other kind, whose labels stay.
	Object       client.Object
	List, Others client.ObjectList
	// Finalizer holds the credentials. Former is the one that did so in older releases; empty if there was none.
	Finalizer, Former string
	// Label marks the credentials and the quotas.
	Label string
	// Field returns the field of a shoot that names a binding of the kind.
	Field func(spec *gardencorev1beta1.ShootSpec) *string
}

// Secret are SecretBindings (GCM-SECRETBINDING-1, GCM-SECRETBINDING-2).
func Secret() Kind {
	return Kind{
		Name:      "secretbinding",
		Object:    &gardencorev1beta1.SecretBinding{},
		List:      &gardencorev1beta1.SecretBindingList{},
		Others:    &gardensecurityv1alpha1.CredentialsBindingList{},
		Finalizer: gardencorev1beta1.FinalizerSecretBinding,
		Former:    gardencorev1beta1.FinalizerExternalGardener,
		Label:     gardencorev1beta1.LabelReferenceSecretBinding,
		Field:     func(spec *gardencorev1beta1.ShootSpec) *string { return spec.SecretBindingName },
	}
}

// Credentials are CredentialsBindings (GCM-CREDBINDING-1).
func Credentials() Kind {
	return Kind{
		Name:      "credentialsbinding",
		Object:    &gardensecurityv1alpha1.CredentialsBinding{},
		List:      &gardensecurityv1alpha1.CredentialsBindingList{},
		Others:    &gardencorev1beta1.SecretBindingList{},
		Finalizer: gardencorev1beta1.FinalizerCredentialsBinding,
		Label:     gardencorev1beta1.LabelReferenceCredentialsBinding,
		Field:     func(spec *gardencorev1beta1.ShootSpec) *string { return spec.CredentialsBindingName },
	}
}

// Protection protects the bindings of a kind, and what they name, from being deleted under a Shoot.
func Protection(kind Kind) inuse.Protection {
	return inuse.Protection{
		Name:      kind.Name,
		Object:    kind.Object,
		Finalizer: gardencorev1beta1.FinalizerGardener,
		EventType: corev1.EventTypeWarning,
		UsedBy: []inuse.Users{inuse.ByShoots(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
			return kit.Keys(shoot.Namespace, kind.Field(&shoot.Spec))
		})},
		Hold: kind.hold,
		Free: kind.free,
	}
}

// Of returns a binding of either kind as a CredentialsBinding. Its references only name their objects, so that they can be
// compared. It is nil for objects of other kinds.
func Of(object runtime.Object) *gardensecurityv1alpha1.CredentialsBinding {
	switch b := object.(type) {
	case *gardensecurityv1alpha1.CredentialsBinding:
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: b.ObjectMeta, Provider: b.Provider, CredentialsRef: named(b.CredentialsRef), Quotas: quotas(b.Quotas),
		}
	case *gardencorev1beta1.SecretBinding:
		binding := &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: b.ObjectMeta, CredentialsRef: query.CredentialsOf(b), Quotas: quotas(b.Quotas)}
		if b.Provider != nil {
			binding.Provider.Type = b.Provider.Type
		}
		return binding
	default:
		return nil
	}
}

func named(ref corev1.ObjectReference) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

func quotas(references []corev1.ObjectReference) []corev1.ObjectReference {
	var all []corev1.ObjectReference
	for _, ref := range references {
		all = append(all, corev1.ObjectReference{
			APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Quota", Namespace: ref.Namespace, Name: ref.Name,
		})
	}
	return all
}

// staying returns the bindings of a list's kind that stay: those that are not being deleted, and of those that share something with a
// binding also the ones in deletion that a Shoot still uses, because they are held until it does not.
func staying(ctx context.Context, reader client.Reader, kind client.ObjectList, with *binding) ([]*binding, error) {
	list, _ := kind.DeepCopyObject().(client.ObjectList)
	if err := reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list bindings: %w", err)
	}
	var all []*binding
	err := meta.EachListItem(list, func(item runtime.Object) error {
		b := Of(item)
		switch {
		case b == nil || b.UID == with.UID:
			return nil
		case b.DeletionTimestamp == nil:
			all = append(all, b)
			return nil
		case !share(b, with):
			return nil
		}
		used, err := inUse(ctx, reader, item)
		if used {
			all = append(all, b)
		}
		return err
	})
	return all, err
}

// inUse reports whether a Shoot uses a binding.
func inUse(ctx context.Context, reader client.Reader, object runtime.Object) (bool, error) {
	var field func(*gardencorev1beta1.ShootSpec) *string
	var key client.ObjectKey
	switch b := object.(type) {
	case *gardencorev1beta1.SecretBinding:
		field, key = Secret().Field, client.ObjectKeyFromObject(b)
	case *gardensecurityv1alpha1.CredentialsBinding:
		field, key = Credentials().Field, client.ObjectKeyFromObject(b)
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots, client.InNamespace(key.Namespace)); err != nil {
		return false, fmt.Errorf("list shoots of binding %q: %w", key, err)
	}
	return slices.ContainsFunc(shoots.Items, func(shoot gardencorev1beta1.Shoot) bool {
		name := field(&shoot.Spec)
		return name != nil && *name == key.Name
	}), nil
}
