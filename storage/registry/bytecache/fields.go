// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// mostFields is how many different sets of fields are remembered, longest is how long one may be.
const (
	mostFields = 1024
	longest    = 16 << 10
)

// fields are the sets of fields that managers of objects own, as they are encoded: thousands of objects have the same few. They
// are never changed in place, so all objects with the same one can share its bytes.
type fields struct {
	mutex sync.Mutex
	known map[string][]byte
}

// share makes an object share the sets that it has in common with others.
func (f *fields) share(object runtime.Object) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	for _, entry := range accessor.GetManagedFields() {
		if entry.FieldsV1 != nil {
			entry.FieldsV1.Raw = f.one(entry.FieldsV1.Raw) //nolint:staticcheck // The setter copies.
		}
	}
}

// one returns the remembered bytes that are equal to these.
func (f *fields) one(raw []byte) []byte {
	if len(raw) == 0 || len(raw) > longest {
		return raw
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if found, ok := f.known[string(raw)]; ok {
		return found
	}
	if len(f.known) >= mostFields {
		clear(f.known) // Objects that have them keep them.
	}
	f.known[string(raw)] = raw

	return raw
}
