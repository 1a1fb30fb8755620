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

// remembering writes garden kinds and remembers how.
type remembering struct {
	serializer.CodecFactory

	// compact writes JSON without spaces, and binary protobuf.
	compact, binary runtime.Encoder
	written         *bytecache.Cache
}

var _ runtime.NegotiatedSerializer = remembering{}

// newRemembering remembers so many bytes.
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
		return r.written.JSON(plain)
	case r.binary:
		return r.written.Protobuf(plain)
	default:
		return plain
	}
}

// textOnly offers what the kinds of a group without protobuf can be written in. A client that prefers protobuf but takes
// others as well gets JSON; without this it would get an error.
type textOnly struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (t textOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(t.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

// serializerFor returns what writes the kinds of a group's version: the given serializer, but for protobuf where the
// kinds have none.
func serializerFor(all runtime.NegotiatedSerializer, kinds *runtime.Scheme, version schema.GroupVersion) runtime.NegotiatedSerializer {
	if hasProtobuf(kinds, version) {
		return all
	}

	return textOnly{NegotiatedSerializer: all}
}

// hasProtobuf reports whether the kinds of a version can be written in protobuf: generated code does all or none of them.
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

// storing writes objects for the store: as protobuf where a kind has it, as JSON where it has not. Reading finds out by
// itself, so a store may hold both; it holds JSON of each object that was last written before there was protobuf.
type storing struct {
	runtime.Decoder

	text, binary runtime.Encoder
}

var _ runtime.Codec = storing{}

func newStoring(codecs serializer.CodecFactory, versions []schema.GroupVersion) (storing, error) {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return storing{}, fmt.Errorf("no serializer writes %s", runtime.ContentTypeProtobuf)
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
