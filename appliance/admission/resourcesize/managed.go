// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	// managed is the size of managed fields that is always allowed.
	managed = 64 << 10
	// entry is what an entry of the managed fields takes beside its texts: its time, names of fields, and structures in memory.
	entry = 256
)

// tooManaged complains about managed fields that are larger than the rest of the object. The server writes them, but clients decide how many
// there are: each name of a manager that an object was applied with has a list of all fields, and nothing else limits them.
func tooManaged(a admission.Attributes, o admission.ObjectInterfaces) (complaint, err error) {
	size := managedOf(a.GetObject())
	if size <= managed || size <= managedOf(a.GetOldObject()) {
		return nil, nil
	}
	rest, err := restOf(a, o)
	if err != nil {
		return nil, errors.Join(world.ErrUnreadable, err)
	}
	most := max(managed, rest)
	if size <= most {
		return nil, nil
	}
	return fmt.Errorf("the managed fields of the object have %d bytes, and at most %d are allowed; use fewer names of field managers", size, most), nil
}

// restOf is the size of the object without its managed fields. That of a Secret is what the limit of all Secrets counts, because it may be
// several times as large in JSON.
func restOf(a admission.Attributes, o admission.ObjectInterfaces) (int64, error) {
	if a.GetResource().GroupResource() != corev1.Resource("secrets") {
		return unmanaged(a, o, a.GetObject())
	}
	secret, _, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return 0, err
	}
	return weight(secret) - entriesOf(secret), nil
}

// managedOf is the size of the managed fields of an object; one without metadata has none.
func managedOf(object any) int64 {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return 0
	}
	var size int64
	for _, e := range metadata.GetManagedFields() {
		size += int64(entry + len(e.Manager) + len(e.Operation) + len(e.APIVersion) + len(e.FieldsType) + len(e.Subresource))
		if e.FieldsV1 != nil {
			size += int64(len(e.FieldsV1.GetRawString()))
		}
	}
	return size
}
