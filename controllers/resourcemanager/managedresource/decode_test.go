// SPDX-License-Identifier: Apache-2.0

package managedresource_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

func manifests(data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{}}
	for key, text := range data {
		secret.Data[key] = []byte(text)
	}
	return secret
}

func compress(t *testing.T, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := brotli.NewWriterLevel(&buffer, brotli.BestSpeed)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestDecode_GRM_MR_2(t *testing.T) {
	t.Parallel()
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %}\n"
	named := func(name string) string { return strings.ReplaceAll(object, "%", name) }
	cases := map[string]struct {
		reason      string
		data        map[string]string
		want, wrong []string
	}{
		"Documents": {reason: "a key has any number of documents, empty ones are left out", data: map[string]string{"k": named("a") + "---\n# none\n---\n" + named("b")}, want: []string{"a", "b"}},
		"Keys":      {reason: "keys are read in alphabetical order", data: map[string]string{"2": named("b"), "1": named("a")}, want: []string{"a", "b"}},
		"JSON":      {reason: "JSON is read too", data: map[string]string{"k": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`}, want: []string{"a"}},
		"Stream": {
			reason: "documents in JSON need no separator", data: map[string]string{"k": "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n" +
				"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}} {}\n---\n" + named("c")}, want: []string{"a", "b", "c"},
		},
		"BrokenStream": {
			reason: "those before one that is broken are read", data: map[string]string{"k": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}{"kind":` + "\n---\n" + named("b")},
			want: []string{"a", "b"}, wrong: []string{`Secret "s", key "k", document 2: not an object with apiVersion, kind and name in YAML or JSON`},
		},
		"Flow":       {reason: "YAML may begin like JSON", data: map[string]string{"k": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"}, want: []string{"a"}},
		"Compressed": {reason: "a suffix says that a key is compressed", data: map[string]string{"k.br": compress(t, named("a"))}, want: []string{"a"}},
		"NotCompressed": {
			reason: "what is not compressed is not taken for it", data: map[string]string{"k.br": "plain", "l": named("a")}, want: []string{"a"},
			wrong: []string{`Secret "s", key "k.br": not compressed with Brotli`},
		},
		"Bomb": {
			reason: "a small key must not fill the memory", data: map[string]string{"k.br": compress(t, strings.Repeat("#", 65<<20))},
			wrong: []string{`Secret "s", key "k.br": larger than 64 MiB when it is decompressed`},
		},
		"Broken": {
			reason: "the others are read, and nothing of a document is quoted", data: map[string]string{"k": "{secret: [\n---\n" + named("a") + "---\nkind: ConfigMap\n"}, want: []string{"a"},
			wrong: []string{
				`Secret "s", key "k", document 1: not an object with apiVersion, kind and name in YAML or JSON`,
				`Secret "s", key "k", document 3: not an object with apiVersion, kind and name in YAML or JSON`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := managedresource.Decode(manifests(tc.data))
			var names []string
			for _, object := range got.Objects {
				names = append(names, object.GetName())
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s\nobjects (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wrong, got.Broken); diff != "" {
				t.Errorf("%s\nbroken documents (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestChecksumSeesWhereDataIs(t *testing.T) {
	t.Parallel()
	sums := map[string]string{}
	for name, data := range map[string]map[string]string{
		"one": {"a": "xy"}, "two": {"a": "x", "b": "y"}, "other": {"b": "xy"}, "none": nil,
	} {
		sum := managedresource.Decode(manifests(data)).Checksum
		if before, found := sums[sum]; found {
			t.Errorf("%q and %q have the same checksum", before, name)
		}
		sums[sum] = name
	}
}
