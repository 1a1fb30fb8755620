// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"
)

// Options are what the API server lends to the stores of all kinds. All fields are required. What one kind needs beside
// them is a setting of that kind.
type Options struct {
	// RESTOptionsGetter says where objects are kept.
	RESTOptionsGetter generic.RESTOptionsGetter
	// Scheme knows every served kind, with its internal twin; Codecs and ParameterCodec are built from it.
	Scheme         *runtime.Scheme
	Codecs         serializer.CodecFactory
	ParameterCodec runtime.ParameterCodec
	// Clock tells the time for certificates and timestamps.
	Clock clock.Clock
}
