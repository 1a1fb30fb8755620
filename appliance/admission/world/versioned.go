// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
)

// Objects returns the new and the old object of a request as types of Kubernetes' API; either is nil if the request has
// none. The server passes internal types of Kubernetes' kinds to plugins, which have other fields. T must be the type of the
// kind and version in the request. The returned objects must not be changed.
func Objects[T any](a admission.Attributes, o admission.ObjectInterfaces) (object, old *T, err error) {
	if object, err = versioned[T](a, a.GetObject(), o); err != nil {
		return nil, nil, err
	}
	if old, err = versioned[T](a, a.GetOldObject(), o); err != nil {
		return nil, nil, err
	}
	return object, old, nil
}

func versioned[T any](a admission.Attributes, object runtime.Object, o admission.ObjectInterfaces) (*T, error) {
	if object == nil {
		return nil, nil //nolint:nilnil // A request may have no such object.
	}
	if already, ok := object.(any).(*T); ok {
		return already, nil
	}
	converted, err := admission.ConvertToGVK(object, a.GetKind(), o)
	if err != nil {
		return nil, fmt.Errorf("%w: convert %T: %w", ErrUnreadable, object, err)
	}
	out, ok := converted.(any).(*T)
	if !ok {
		return nil, fmt.Errorf("%w: %T is no %T", ErrUnreadable, converted, out)
	}
	return out, nil
}
