// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// textOnly offers what garden kinds can be written in. They have no protobuf form, so a client that prefers protobuf
// but takes others as well gets JSON; without this it would get an error.
type textOnly struct{ serializer.CodecFactory }

var _ runtime.NegotiatedSerializer = textOnly{}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s textOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.CodecFactory.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}
