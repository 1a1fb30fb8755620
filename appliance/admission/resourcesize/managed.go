// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// managed is the size of managed fields that is always allowed.
const managed = 64 << 10

// tooManaged complains about managed fields that are larger than the object may be. The server writes them, but clients decide how many
// there are: each name of a manager that an object was applied with has a list of all fields, and nothing else limits them.
func tooManaged(a admission.Attributes, limit *gardenconfigv1alpha1.ResourceLimit) (complaint error) {
	most := int64(managed)
	if limit.Size != nil {
		most = max(most, limit.Size.Value())
	}
	size := managedOf(a.GetObject())
	if size <= most || size <= managedOf(a.GetOldObject()) {
		return nil
	}
	return fmt.Errorf("the managed fields of the object have %d bytes, and at most %d are allowed; use fewer names of field managers", size, most)
}

// managedOf is the size of the managed fields of an object; one without metadata has none.
func managedOf(object any) int64 {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return 0
	}
	var size int64
	for _, entry := range metadata.GetManagedFields() {
		if size += int64(len(entry.Manager)); entry.FieldsV1 != nil {
			size += int64(len(entry.FieldsV1.GetRawString()))
		}
	}
	return size
}
