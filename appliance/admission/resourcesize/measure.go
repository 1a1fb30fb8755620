// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
)

// size returns the length of an object of a request in JSON, in the version of the request, without its status and its managed fields,
// which the server writes, and what its entries take beside. They are not subtracted if the object is within the limit with them.
func size(a admission.Attributes, o admission.ObjectInterfaces, object runtime.Object, limit int64) (int64, error) {
	whole, entries, err := encode(a, o, object)
	if err != nil || int64(len(whole))+entries <= limit {
		return int64(len(whole)) + entries, err
	}
	bare, err := without(whole, "status")
	return bare + entries, err
}

// unmanaged is like size, but with the status, whose fields are managed as well.
func unmanaged(a admission.Attributes, o admission.ObjectInterfaces, object runtime.Object) (int64, error) {
	whole, _, err := encode(a, o, object)
	if err != nil {
		return 0, err
	}
	return without(whole)
}

// encode returns an object in JSON, and what its entries take beside.
func encode(a admission.Attributes, o admission.ObjectInterfaces, object runtime.Object) (raw []byte, entries int64, err error) {
	if o != nil {
		converted, err := admission.ConvertToGVK(object, a.GetKind(), o)
		if err != nil {
			return nil, 0, fmt.Errorf("convert %T: %w", object, err)
		}
		object = converted
	}
	if raw, err = json.Marshal(object); err != nil {
		return nil, 0, fmt.Errorf("encode %T: %w", object, err)
	}
	return raw, entriesOf(object), nil
}

// without returns the length of an object without its managed fields and some of its parts.
func without(whole []byte, parts ...string) (int64, error) {
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(whole, &object); err != nil {
		return 0, fmt.Errorf("decode the object: %w", err)
	}
	for _, part := range parts {
		delete(object, part)
	}
	if raw, found := object["metadata"]; found {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return 0, fmt.Errorf("decode metadata: %w", err)
		}
		delete(metadata, "managedFields")
		var err error
		if object["metadata"], err = json.Marshal(metadata); err != nil {
			return 0, fmt.Errorf("encode metadata: %w", err)
		}
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return 0, fmt.Errorf("encode the object: %w", err)
	}
	return int64(len(raw)), nil
}
