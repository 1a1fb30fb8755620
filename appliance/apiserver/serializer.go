// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/terrarium-garden/terrarium/apis/wire"
	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// remembering encodes garden kinds and caches the results.
type remembering struct {
	serializer.CodecFactory

	// compact encodes JSON without spaces, and binary protobuf.
	compact, binary runtime.Encoder
	written         *bytecache.Cache
}

var _ runtime.NegotiatedSerializer = remembering{}

// newRemembering returns a serializer with a cache of a number of bytes.
func newRemembering(codecs serializer.CodecFactory, bytes int) remembering {
	r := remembering{CodecFactory: codecs, written: bytecache.New(bytes)}
	if info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON); ok {
		r.compact = info.Serializer
	}
	if info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf); ok {
		r.binary = info.Serializer
	}

	return r
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (r remembering) EncoderForVersion(encoder runtime.Encoder, version runtime.GroupVersioner) runtime.Encoder {
	plain := r.CodecFactory.EncoderForVersion(encoder, version)
	switch encoder {
	case r.compact:
		return spliced{r.written.JSON(plain)}
	case r.binary:
		return spliced{r.written.Protobuf(plain)}
	default:
		return spliced{plain}
	}
}

// textOnly offers the media types of a group without protobuf. A client that prefers protobuf but accepts other types gets
// JSON; otherwise it would get an error.
type textOnly struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (t textOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(t.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

// serializerFor returns the serializer for the kinds of a group and version: the given one, without protobuf if the kinds do
// not support it.
func serializerFor(all runtime.NegotiatedSerializer, kinds *runtime.Scheme, version schema.GroupVersion) runtime.NegotiatedSerializer {
	if hasProtobuf(kinds, version) {
		return all
	}

	return textOnly{NegotiatedSerializer: all}
}

// hasProtobuf reports whether the kinds of a version can be encoded in protobuf, for which either all or none have generated
// code.
func hasProtobuf(kinds *runtime.Scheme, version schema.GroupVersion) bool {
	for kind := range kinds.KnownTypes(version) {
		if object, err := kinds.New(version.WithKind(kind)); err == nil {
			if _, ok := object.(wire.Message); ok {
				return true
			}
		}
	}

	return false
}

// storing encodes objects for the store: in protobuf if the kind supports it, else in JSON. Decoding detects the format, so
// a store may contain both; objects that were last written by versions without protobuf are in JSON.
type storing struct {
	runtime.Decoder

	text, binary runtime.Encoder
}

var _ runtime.Codec = storing{}

func newStoring(codecs serializer.CodecFactory, versions []schema.GroupVersion) (storing, error) {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return storing{}, fmt.Errorf("there is no serializer for %s", runtime.ContentTypeProtobuf)
	}
	text := codecs.LegacyCodec(versions...)

	return storing{Decoder: text, text: text, binary: codecs.EncoderForVersion(info.Serializer, schema.GroupVersions(versions))}, nil
}

// Encode implements runtime.Encoder.
func (s storing) Encode(object runtime.Object, w io.Writer) error {
	if _, ok := object.(wire.Message); ok {
		return s.binary.Encode(object, w)
	}

	return s.text.Encode(object, w)
}

// Identifier implements runtime.Encoder.
func (s storing) Identifier() runtime.Identifier { return "terrarium-store" }
