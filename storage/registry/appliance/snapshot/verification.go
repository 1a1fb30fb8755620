// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
)

// Verification serves the subresource that reads a snapshot and its increments again. The request is answered once that has begun; the
// status of the snapshot says what became of it.
type Verification struct{ store *Store }

var (
	_ rest.Storage      = &Verification{}
	_ rest.NamedCreater = &Verification{}
)

// NewVerification returns the storage of the subresource.
func NewVerification(of *Store) *Verification { return &Verification{store: of} }

// New returns an empty snapshot.
func (*Verification) New() runtime.Object { return &gardenappliancev1alpha1.Snapshot{} }

// Destroy does nothing.
func (*Verification) Destroy() {}

// Create begins a verification, and returns the snapshot.
func (v *Verification) Create(
	ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, o *metav1.CreateOptions,
) (runtime.Object, error) {
	if v.store.keeper == nil {
		return nil, none()
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if o == nil || len(o.DryRun) == 0 {
		if err := v.store.keeper.Check(ctx, name); err != nil {
			return nil, problem(name, err)
		}
	}

	return v.store.find(ctx, name)
}
