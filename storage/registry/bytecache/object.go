// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Plain is what every kind of the garden is.
type Plain interface {
	runtime.Object
	metav1.Object
}

// Object is an object that is exactly what is stored under its UID and resource version. A change that is only tried, in
// a dry run, leads to an object of the same version and another content: such a one must not be made an Object.
type Object struct{ Plain }

var _ runtime.CacheableObject = Object{}

// CacheEncode implements runtime.CacheableObject for encoders that know nothing of a Cache.
func (o Object) CacheEncode(
	_ runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer,
) error {
	return encode(o.Plain, w)
}

// GetObject implements runtime.CacheableObject.
func (o Object) GetObject() runtime.Object { return o.Plain }

// Unwrap returns the object itself.
func Unwrap(object runtime.Object) runtime.Object {
	if stored, ok := object.(Object); ok {
		return stored.Plain
	}

	return object
}
