// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Plain is the interface of all kinds of the garden.
type Plain interface {
	runtime.Object
	metav1.Object
}

// Object is an object that is exactly as stored under its UID and resource version. The result of a dry run must not become
// an Object: it has the same version with another content.
type Object struct{ Plain }

var _ runtime.CacheableObject = Object{}

// CacheEncode implements runtime.CacheableObject for encoders without a Cache.
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
