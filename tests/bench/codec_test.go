// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bytes"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// BenchmarkCodec is what it costs to write and read the realistic shoot in each encoding, as the store and typed clients do.
func BenchmarkCodec(b *testing.B) {
	kinds := runtime.NewScheme()
	if err := scheme.AddServed(kinds); err != nil {
		b.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(kinds)
	shoot, err := order()
	if err != nil {
		b.Fatal(err)
	}
	shoot.ObjectMeta = metav1.ObjectMeta{
		Namespace: "garden-meadow", Name: "shoot", UID: "9d8f5b4e-5b0a-4a7e-8a55-000000000001", ResourceVersion: "4711", Generation: 1,
		CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0)), Labels: shoot.Labels, Annotations: shoot.Annotations,
	}
	kinds.Default(shoot)
	internal := schema.GroupVersion{Group: gardencorev1beta1.GroupName, Version: runtime.APIVersionInternal}
	for name, mediaType := range map[string]string{"JSON": runtime.ContentTypeJSON, "Protobuf": runtime.ContentTypeProtobuf} {
		info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
		if !ok {
			b.Fatalf("no %s", mediaType)
		}
		codec := codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), gardencorev1beta1.GroupVersion, internal)
		data, err := runtime.Encode(codec, shoot)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("Write/"+name, func(b *testing.B) {
			b.ReportAllocs()
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := codec.Encode(shoot, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run("Read/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := codec.Decode(data, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
