// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Kind is a kind of bindings.
type Kind struct {
	// Name is the name of the controller.
	Name string
	// New returns an empty binding.
	New func() client.Object
	// Finalizer holds the credentials.
	Finalizer string
	// Label marks the credentials and the quotas.
	Label string
	// List returns all bindings of the kind.
	List func(ctx context.Context, reader client.Reader) ([]Binding, error)
	// Others returns all bindings of the other kind, whose labels stay.
	Others func(ctx context.Context, reader client.Reader) ([]Binding, error)
	// Of reads a binding.
	Of func(object client.Object) (Binding, bool)
	// Field returns the field of a shoot that names a binding of the kind.
	Field func(spec *gardencorev1beta1.ShootSpec) *string
}

// Binding is what a binding of either kind names.
type Binding struct {
	// UID identifies the binding; Leaving is set while it is being deleted.
	UID     types.UID
	Leaving bool
	// Credentials are what the binding is for, Quotas what bounds its shoots.
	Credentials Reference
	Quotas      []types.NamespacedName
	// Providers are the types of the providers that accept the credentials.
	Providers []string
}

// Reference names an object of any kind.
type Reference struct {
	types.NamespacedName

	APIVersion, Kind string
}

// Protection protects the bindings of a kind, and what they name, from being deleted under a Shoot.
func Protection(kind Kind) inuse.Protection {
	return inuse.Protection{
		Name:       kind.Name,
		New:        kind.New,
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		EventType:  corev1.EventTypeWarning,
		References: kind.references,
		Releases:   []inuse.Release{{Object: &gardencorev1beta1.Shoot{}, Of: kind.bindings}},
		Hold:       kind.hold,
		Free:       kind.free,
	}
}

func (k Kind) references(ctx context.Context, reader client.Reader, binding client.Object) ([]string, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots, client.InNamespace(binding.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list shoots of %q: %w", binding.GetNamespace(), err)
	}
	return k.Users(binding.GetName(), shoots.Items), nil
}

// Users names the shoots, all of one namespace, that use the binding.
func (k Kind) Users(binding string, shoots []gardencorev1beta1.Shoot) []string {
	var users []string
	for i := range shoots {
		if name := k.Field(&shoots[i].Spec); name != nil && *name == binding {
			users = append(users, inuse.Name("Shoot", &shoots[i]))
		}
	}
	return users
}

func (k Kind) bindings(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	name := k.Field(&shoot.Spec)
	if name == nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: shoot.Namespace, Name: *name}}
}
