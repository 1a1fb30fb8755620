// SPDX-License-Identifier: Apache-2.0

package bytecache_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// countingCodec counts what a codec has to decode.
type countingCodec struct {
	runtime.Codec

	count int
}

func (c *countingCodec) Decode(raw []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	c.count++

	return c.Codec.Decode(raw, defaults, into)
}

func plainCodec(tb testing.TB) runtime.Codec {
	tb.Helper()
	kinds := runtime.NewScheme()
	if err := scheme.AddServed(kinds); err != nil {
		tb.Fatal(err)
	}

	return serializer.NewCodecFactory(kinds).LegacyCodec(gardencorev1beta1.GroupVersion)
}

func stored(name string) []byte {
	return fmt.Appendf(nil, `{"kind":"Project","apiVersion":"core.gardener.cloud/v1beta1","metadata":{"name":%q,"labels":{"a":"b"}},"spec":{"purpose":"x"}}`, name)
}

func TestCodecDecodesTheSame(t *testing.T) {
	t.Parallel()

	work := &countingCodec{Codec: plainCodec(t)}
	c := bytecache.Codec(work, 1<<20)
	for name, tc := range map[string]struct {
		reason string
		into   func() runtime.Object
	}{
		"New":   {"The codec makes the object.", func() runtime.Object { return nil }},
		"Given": {"The caller has made it.", func() runtime.Object { return &gardencorev1beta1.Project{} }},
		"Used": {"Decoding adds to what it held before.", func() runtime.Object {
			return &gardencorev1beta1.Project{Spec: gardencorev1beta1.ProjectSpec{Description: new("old")}}
		}},
	} {
		want, wantKind, err := plainCodec(t).Decode(stored("a"), nil, tc.into())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, kind, err := c.Decode(stored("a"), nil, tc.into())
			if err != nil {
				t.Fatalf("%s\nDecode(...): %v", name, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nDecode(...) (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(wantKind, kind); diff != "" {
				t.Errorf("%s\nkind (-want +got):\n%s", tc.reason, diff)
			}
			// What was returned belongs to the caller.
			project := got.(*gardencorev1beta1.Project)
			project.Labels["a"], *project.Spec.Purpose, kind.Kind = "changed", "changed", "changed"
		}
	}
	if work.count != 3 {
		t.Errorf("The same bytes are decoded once, but each time into an object that is in use: got %d, want 1 + 2", work.count)
	}
	if _, _, err := c.Decode(stored("a"), nil, &gardencorev1beta1.Shoot{}); err == nil {
		t.Error("An object of another kind is as wrong as ever.")
	}
	if _, _, err := c.Decode([]byte(`{"kind":"Project"`), nil, nil); err == nil {
		t.Error("Broken bytes are an error.")
	}
}

func TestCodecForgets(t *testing.T) {
	t.Parallel()

	work := &countingCodec{Codec: plainCodec(t)}
	c := bytecache.Codec(work, 4*len(stored("0")))
	decode := func(name string) int {
		before := work.count
		if _, _, err := c.Decode(stored(name), nil, nil); err != nil {
			t.Fatal(err)
		}

		return work.count - before
	}
	for n := range 5 {
		decode(fmt.Sprint(n))
	}
	for _, tc := range []struct {
		reason, name string
		want         int
	}{
		{"the last four are known", "1", 0}, {"the last four are known", "4", 0}, {"the first had to go", "0", 1}, {"then the second", "1", 1},
	} {
		if got := decode(tc.name); got != tc.want {
			t.Errorf("%s: %q was decoded %d times, want %d", tc.reason, tc.name, got, tc.want)
		}
	}
}

// TestCodecSharesFields decodes objects with equal sets of owned fields: they are one in memory.
func TestCodecSharesFields(t *testing.T) {
	t.Parallel()

	c := bytecache.Codec(plainCodec(t), 1<<20)
	decode := func(name, set string) []byte {
		t.Helper()
		raw := fmt.Appendf(nil, `{"kind":"Project","apiVersion":"core.gardener.cloud/v1beta1","metadata":{"name":%q,"managedFields":[
			{"manager":"m","operation":"Update","fieldsType":"FieldsV1","fieldsV1":%s}]}}`, name, set)
		object, _, err := c.Decode(raw, nil, &gardencorev1beta1.Project{})
		if err != nil {
			t.Fatal(err)
		}
		project, _ := object.(*gardencorev1beta1.Project)

		return project.ManagedFields[0].FieldsV1.GetRawBytes()
	}
	const set = `{"f:spec":{"f:purpose":{}}}`
	first, second, again, other := decode("a", set), decode("b", set), decode("a", set), decode("c", `{"f:spec":{}}`)
	want := []string{set, set, set, `{"f:spec":{}}`}
	if diff := cmp.Diff(want, []string{string(first), string(second), string(again), string(other)}); diff != "" {
		t.Errorf("sets of fields (-want +got):\n%s", diff)
	}
	if &first[0] != &second[0] || &first[0] != &again[0] {
		t.Error("equal sets of fields are in memory more than once")
	}
}
