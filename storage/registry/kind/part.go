// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// PartStore serves a subresource that reads the whole object and writes one part of it.
type PartStore struct{ store *genericregistry.Store }

var (
	_ rest.Getter              = &PartStore{}
	_ rest.Patcher             = &PartStore{}
	_ rest.ResetFieldsStrategy = &PartStore{}
	_ rest.TableConvertor      = &PartStore{}
)

// New returns an empty object of the kind.
func (p *PartStore) New() runtime.Object { return p.store.New() }

// Destroy does nothing: the main store owns the connections.
func (*PartStore) Destroy() {}

// Get reads the whole object.
func (p *PartStore) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	return p.store.Get(ctx, name, o)
}

// Update writes the part; it never creates.
//
//nolint:revive // the seven parameters are those of rest.Updater
func (p *PartStore) Update(
	ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc,
	update rest.ValidateObjectUpdateFunc, _ bool, o *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return p.store.Update(ctx, name, info, create, update, false, o)
}

// GetResetFields tells server-side apply which fields a writer of this part never owns.
func (p *PartStore) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return p.store.GetResetFields()
}

// ConvertToTable prints the object as its main resource does.
func (p *PartStore) ConvertToTable(ctx context.Context, obj, o runtime.Object) (*metav1.Table, error) {
	return p.store.ConvertToTable(ctx, obj, o)
}
