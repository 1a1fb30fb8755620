// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// writtenBytes bounds what is remembered of how objects are written: some thousand shoots.
const writtenBytes = 96 << 20

// textOnly offers what garden kinds can be written in. They have no protobuf form, so a client that prefers protobuf
// but takes others as well gets JSON; without this it would get an error.
type textOnly struct {
	serializer.CodecFactory

	// compact writes JSON without spaces, and written remembers how.
	compact runtime.Encoder
	written *bytecache.Cache
}

var _ runtime.NegotiatedSerializer = textOnly{}

func newTextOnly(codecs serializer.CodecFactory) textOnly {
	s := textOnly{CodecFactory: codecs, written: bytecache.New(writtenBytes)}
	if info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON); ok {
		s.compact = info.Serializer
	}

	return s
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s textOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.CodecFactory.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (s textOnly) EncoderForVersion(encoder runtime.Encoder, version runtime.GroupVersioner) runtime.Encoder {
	plain := s.CodecFactory.EncoderForVersion(encoder, version)
	if encoder != s.compact {
		return plain
	}

	return s.written.Encoder(plain)
}
