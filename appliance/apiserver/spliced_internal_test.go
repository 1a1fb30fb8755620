// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// splice keeps the name of the interface free for its method.
type splice = runtime.Splice

// lent is a splice buffer that may be given bytes only, which it does not keep.
type lent struct {
	splice

	t *testing.T
}

func (l lent) Write([]byte) (int, error) {
	l.t.Error("the buffer of the watch was written to, and so stays as large as the object")

	return 0, errors.New("written")
}

// TestSpliced: what encodes for watches gives the same bytes as the encoder below it, and leaves neither a buffer nor an allocator with them.
func TestSpliced(t *testing.T) {
	t.Parallel()
	object := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Data: map[string]string{"a": "b"},
	}
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme)
	kept := newRemembering(codecs, 1<<20)
	for _, info := range codecs.SupportedMediaTypes() {
		if info.StreamSerializer == nil {
			continue
		}
		for name, one := range map[string]runtime.Encoder{"Object": info.Serializer, "Event": info.StreamSerializer.Serializer} {
			t.Run(info.MediaType+"/"+name, func(t *testing.T) {
				t.Parallel()
				e := kept.EncoderForVersion(one, corev1.SchemeGroupVersion)
				if _, ok := e.(runtime.EncoderWithAllocator); ok {
					t.Error("each watch would get an allocator")
				}
				var want, written bytes.Buffer
				if err := codecs.EncoderForVersion(one, corev1.SchemeGroupVersion).Encode(object, &want); err != nil {
					t.Fatal(err)
				}
				if err := e.Encode(object, &written); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Bytes(), written.Bytes()); diff != "" {
					t.Errorf("written: -want, +got:\n%s", diff)
				}
				buffer := lent{splice: runtime.NewSpliceBuffer(), t: t}
				if err := e.Encode(object, buffer); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Bytes(), buffer.Bytes()); diff != "" {
					t.Errorf("spliced: -want, +got:\n%s", diff)
				}
			})
		}
	}
}
