// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestedFields(t *testing.T) {
	t.Parallel()
	region := fields{"spec": {"region": nil}, "metadata": {"name": nil, "namespace": nil, "uid": nil, "resourceVersion": nil}}
	const wants = `{"spec":{"region":true}}`
	for name, tc := range map[string]struct {
		reason, header, verb string
		want                 wanted
		wrong                bool
	}{
		"none":       {reason: "Without the header all fields are kept.", verb: "list"},
		"list":       {reason: "What identifies an object is kept.", header: wants, verb: "list", want: wanted{object: region}},
		"metadata":   {reason: "Who wants all of it gets all.", header: `{"metadata":true}`, verb: "list", want: wanted{object: fields{"metadata": nil}}},
		"watch":      {reason: "The API says what is a watch.", header: wants, verb: "watch", want: wanted{object: region, watch: true}},
		"object":     {reason: "An object is neither list nor watch.", header: wants, verb: "get"},
		"other path": {reason: "Nor is what the API has beside objects.", header: wants},
		"number":     {reason: "A tree has no other leaves than true.", header: `{"spec":1}`, verb: "list", wrong: true},
		"nothing":    {reason: "No field at all is a mistake.", header: `{}`, verb: "list", wrong: true},
		"whole":      {reason: "So is every field.", header: `true`, verb: "list", wrong: true},
		"deep":       {reason: "The tree is limited.", header: strings.Repeat(`{"a":`, 700) + "true" + strings.Repeat("}", 700), verb: "list", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/secrets", http.NoBody)
			got, err := requestedFields(tc.header, r, func(*http.Request) string { return tc.verb })
			if (err != nil) != tc.wrong {
				t.Fatalf("%s\nrequestedFields(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(wanted{})); diff != "" {
				t.Errorf("%s\nrequestedFields(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	keep := fields{"a": nil, "b": {"c": nil, `d\"`: nil}}
	for name, tc := range map[string]struct{ reason, data, want string }{
		"fields":  {"Only named fields are kept.", `{"x":1,"a":{"any":[1,{}]},"y":"}"}`, `{"a":{"any":[1,{}]}}`},
		"nested":  {"Also within others, and within elements.", `{"b":[{"c":1,"e":2},{"e":"]"},{"c":null}]}`, `{"b":[{"c":1},{},{"c":null}]}`},
		"strings": {"Braces and quotes in texts mean nothing.", `{"a":"\\\"}{","x":"\\","b":{"c":"\\\\"}}`, `{"a":"\\\"}{","b":{"c":"\\\\"}}`},
		"scalar":  {"A value without fields is kept.", `{"b":"text","a":-1.5e3}`, `{"b":"text","a":-1.5e3}`},
		"empty":   {"An empty object stays one.", `{"b":{},"x":{}}`, `{"b":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, rest, ok := keep.prune(nil, []byte(tc.data))
			if !ok || len(rest) > 0 {
				t.Fatalf("%s\nprune(%s) = %s, rest %q, %t", tc.reason, tc.data, got, rest, ok)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s\nprune(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzPrune compares with the decoder of the standard library, and tries what is not JSON at all.
func FuzzPrune(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,2,{"a":"\"}"}]},"c":{"a":null,"x":1}}`))
	f.Add([]byte(`{"a":"\\`))
	f.Add([]byte(`[[[{"a":tru`))
	keep := fields{"a": nil, "c": {"a": nil}}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, ok := keep.prune(nil, data)
		var compact bytes.Buffer
		if json.Compact(&compact, data) != nil || !bytes.Equal(compact.Bytes(), data) {
			return // Then it only has to end.
		}
		var want any
		if !ok || json.Unmarshal(data, &want) != nil {
			t.Fatalf("prune(%q) has not understood it", data)
		}
		var have any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("prune(%q) = %q: %v", data, got, err)
		}
		if diff := cmp.Diff(reduced(want, keep), have); diff != "" && !strings.Contains(string(data), `\`) {
			t.Errorf("prune(%q) (-want +got):\n%s", data, diff)
		}
	})
}

func reduced(value any, keep fields) any {
	if len(keep) == 0 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range keep {
			if found, ok := value[name]; ok {
				out[name] = reduced(found, inner)
			}
		}

		return out
	case []any:
		out := []any{}
		for _, element := range value {
			out = append(out, reduced(element, keep))
		}

		return out
	default:
		return value
	}
}
