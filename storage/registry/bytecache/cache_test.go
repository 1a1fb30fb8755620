// SPDX-License-Identifier: Apache-2.0

package bytecache_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// counting counts what an encoder has to do.
type counting struct {
	runtime.Encoder

	count int
}

func (c *counting) Encode(object runtime.Object, w io.Writer) error {
	c.count++

	return c.Encoder.Encode(object, w)
}

func plain(tb testing.TB) runtime.Encoder {
	tb.Helper()

	return plainFor(tb, runtime.ContentTypeJSON)
}

func plainFor(tb testing.TB, mediaType string) runtime.Encoder {
	tb.Helper()
	kinds := runtime.NewScheme()
	if err := scheme.AddServed(kinds); err != nil {
		tb.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(kinds)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		tb.Fatalf("no %s", mediaType)
	}

	return codecs.EncoderForVersion(info.Serializer, gardencorev1beta1.GroupVersion)
}

func project(uid, version, purpose string) *gardencorev1beta1.Project {
	return &gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: "meadow-" + uid, UID: types.UID(uid), ResourceVersion: version, Labels: map[string]string{"kind": `,"metadata":`}},
		Spec:       gardencorev1beta1.ProjectSpec{Purpose: &purpose, Description: new("<flowers> & \u2028")},
	}
}

func encode(tb testing.TB, e runtime.Encoder, object runtime.Object) string {
	tb.Helper()
	var out bytes.Buffer
	if err := e.Encode(object, &out); err != nil {
		tb.Fatalf("Encode(%T): %v", object, err)
	}

	return out.String()
}

func TestEncoderWritesTheSame(t *testing.T) {
	t.Parallel()

	told := project("c", "3", "z")
	told.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("Project"))
	foreign := project("c", "3", "z")
	foreign.Kind = "Else"
	remaining := int64(7)
	meta := metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: &remaining}
	cases := map[string]struct {
		reason string
		given  runtime.Object
	}{
		"Stored":     {"One object as it is stored.", bytecache.Object{Plain: project("a", "1", "x")}},
		"Unstored":   {"One object that is not known to be stored.", project("a", "1", "x")},
		"List":       {"Objects of a list carry no kind.", &gardencorev1beta1.ProjectList{ListMeta: meta, Items: []gardencorev1beta1.Project{*project("a", "1", "x"), *project("b", "2", "y")}}},
		"OneItem":    {"A list of one.", &gardencorev1beta1.ProjectList{ListMeta: meta, Items: []gardencorev1beta1.Project{*project("a", "1", "x")}}},
		"TellsKind":  {"Some objects of a list carry their kind, others do not.", &gardencorev1beta1.ProjectList{ListMeta: meta, Items: []gardencorev1beta1.Project{*told, *project("a", "1", "x")}}},
		"Foreign":    {"An object claims to be something else.", &gardencorev1beta1.ProjectList{ListMeta: meta, Items: []gardencorev1beta1.Project{*foreign, *project("a", "1", "x")}}},
		"EmptyList":  {"A list of none.", &gardencorev1beta1.ProjectList{Items: []gardencorev1beta1.Project{}}},
		"NilList":    {"A list of nothing.", &gardencorev1beta1.ProjectList{}},
		"NoIdentity": {"Objects that were never stored.", &gardencorev1beta1.ProjectList{Items: []gardencorev1beta1.Project{*project("", "", "x"), *project("", "", "y")}}},
		"Status":     {"What is no object of the garden.", &metav1.Status{Message: "no"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := tc.given.DeepCopyObject()
			cache := bytecache.New(1 << 20)
			inJSON, inProtobuf := plain(t), plainFor(t, runtime.ContentTypeProtobuf)
			for _, when := range []string{"at first", "again"} {
				if diff := cmp.Diff(encode(t, inJSON, bytecache.Unwrap(tc.given)), encode(t, cache.JSON(inJSON), tc.given)); diff != "" {
					t.Errorf("%s\nEncode(...) as JSON %s (-want +got):\n%s", tc.reason, when, diff)
				}
				if diff := cmp.Diff(encode(t, inProtobuf, bytecache.Unwrap(tc.given)), encode(t, cache.Protobuf(inProtobuf), tc.given)); diff != "" {
					t.Errorf("%s\nEncode(...) as protobuf %s (-want +got):\n%s", tc.reason, when, diff)
				}
			}
			if diff := cmp.Diff(bytecache.Unwrap(before), bytecache.Unwrap(tc.given)); diff != "" {
				t.Errorf("Writing changes nothing.\n(-before +after):\n%s", diff)
			}
		})
	}
}

func TestEncoderRemembers(t *testing.T) {
	t.Parallel()

	work := &counting{Encoder: plain(t)}
	cache := bytecache.New(1 << 20)
	e := cache.JSON(work)
	list := &gardencorev1beta1.ProjectList{Items: []gardencorev1beta1.Project{*project("a", "1", "x"), *project("b", "2", "y")}}
	steps := []struct {
		reason string
		given  runtime.Object
		count  int
		want   string
	}{
		{"An object is written once,", bytecache.Object{Plain: project("a", "1", "x")}, 1, `"purpose":"x"`},
		{"and never again,", bytecache.Object{Plain: project("a", "1", "x")}, 1, `"purpose":"x"`},
		{"also as one of a list: of that, the frame and the other object are.", list, 3, `"purpose":"y"`},
		{"Of a known list it is the frame alone.", list, 4, `"purpose":"y"`},
		{"Another version is another content.", bytecache.Object{Plain: project("a", "2", "z")}, 5, `"purpose":"z"`},
		{"What a dry run leads to is never looked up,", project("a", "2", "tried"), 6, `"purpose":"tried"`},
		{"nor remembered.", bytecache.Object{Plain: project("a", "2", "z")}, 6, `"purpose":"z"`},
	}
	for _, step := range steps {
		if got := encode(t, e, step.given); !strings.Contains(got, step.want) || work.count != step.count {
			t.Errorf("%s\nEncode(...): got %s after %d encodings, want %s after %d", step.reason, got, work.count, step.want, step.count)
		}
	}

	more := &counting{Encoder: plainFor(t, runtime.ContentTypeProtobuf)}
	for range 2 {
		encode(t, cache.Protobuf(more), bytecache.Object{Plain: project("a", "2", "z")})
		encode(t, e, bytecache.Object{Plain: project("a", "2", "z")})
	}
	if more.count != 1 || work.count != 6 {
		t.Errorf("Both forms of an object are remembered.\nEncode(...): %d and %d encodings, want 1 and 6", more.count, work.count)
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()

	work := &counting{Encoder: plain(t)}
	e := bytecache.New(4096).JSON(work)
	write := func(n int, size int) int {
		before := work.count
		encode(t, e, bytecache.Object{Plain: project(fmt.Sprint(n), "1", strings.Repeat("x", size))})

		return work.count - before
	}
	for n := range 100 {
		write(n, 100)
	}
	if write(99, 100) != 0 {
		t.Error("The last one is remembered.")
	}
	if write(0, 100) != 1 {
		t.Error("The first one had to go.")
	}
	write(200, 5000)
	if write(200, 5000) != 1 {
		t.Error("What is larger than the limit is not remembered.")
	}
	if write(0, 100) != 0 {
		t.Error("It drives out nothing either.")
	}
}

func BenchmarkList(b *testing.B) {
	list := &gardencorev1beta1.ProjectList{}
	for n := range 500 {
		list.Items = append(list.Items, *project(fmt.Sprint(n), "1", strings.Repeat("long ", 500)))
	}
	inProtobuf := plainFor(b, runtime.ContentTypeProtobuf)
	for name, e := range map[string]runtime.Encoder{
		"Plain": plain(b), "Cached": bytecache.New(64 << 20).JSON(plain(b)),
		"ProtobufPlain": inProtobuf, "ProtobufCached": bytecache.New(64 << 20).Protobuf(inProtobuf),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Encode(list, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
