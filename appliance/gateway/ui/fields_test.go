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
	identity := fields{"name": nil, "namespace": nil, "uid": nil, "resourceVersion": nil}
	for name, tc := range map[string]struct {
		reason, header, target string
		want                   fields
		wrong                  bool
	}{
		"none":     {reason: "Without the header all fields are kept.", target: "/api/v1/secrets"},
		"list":     {reason: "What identifies an object is kept.", header: `{"spec":{"region":true}}`, target: "/apis/x/v1/y", want: fields{"kind": nil, "apiVersion": nil, "metadata": nil, "items": {"spec": {"region": nil}, "metadata": identity}}},
		"watch":    {reason: "The object is within an event.", header: `{"metadata":true}`, target: "/apis/x/v1/y?watch=1", want: fields{"type": nil, "object": {"metadata": nil}}},
		"old path": {reason: "The old way to watch is left alone, its events would be collected.", header: `{"spec":true}`, target: "/api/v1/watch/secrets"},
		"number":   {reason: "A tree has no other leaves than true.", header: `{"spec":1}`, target: "/api/v1/secrets", wrong: true},
		"nothing":  {reason: "No field at all is a mistake.", header: `{}`, target: "/api/v1/secrets", wrong: true},
		"whole":    {reason: "So is every field.", header: `true`, target: "/api/v1/secrets", wrong: true},
		"deep":     {reason: "The tree is limited.", header: strings.Repeat(`{"a":`, 700) + "true" + strings.Repeat("}", 700), target: "/api/v1/secrets", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.target, http.NoBody)
			r.Header.Set(fieldsHeader, tc.header)
			got, _, err := requestedFields(r, r.URL.Path)
			if (err != nil) != tc.wrong {
				t.Fatalf("%s\nrequestedFields(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
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

func TestPrunedAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		watch  bool
		answer func(http.ResponseWriter)
		want   string
	}{
		"list": {
			reason: "The fields of a list are pruned, also when it comes in parts.",
			answer: func(w http.ResponseWriter) {
				write(w, `{"kind":"L","items":[{"a":1,"x"`)
				write(w, `:2}]}`)
			},
			want: `{"items":[{"a":1}]}` + "\n",
		},
		"watch": {
			reason: "So are those of events, and errors are passed on as they are.", watch: true,
			answer: func(w http.ResponseWriter) {
				write(w, `{"type":"ADDED","object":{"a":1,"x":2}}`+"\n"+`{"type":"ERROR","object":{"x":`)
				write(w, "2}}\n")
			},
			want: `{"type":"ADDED","object":{"a":1}}` + "\n" + `{"type":"ERROR","object":{"x":2}}` + "\n",
		},
		"refused": {
			reason: "A refusal is no object.",
			answer: func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusForbidden)
				write(w, `{"kind":"Status","x":1}`)
			},
			want: `{"kind":"Status","x":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			out := httptest.NewRecorder()
			out.Header().Set("Content-Type", "application/json")
			p := prune(out, in, fields{"type": nil, "items": {"a": nil}, "object": {"a": nil}}, tc.watch)
			tc.answer(p)
			p.finish()
			if diff := cmp.Diff(tc.want, out.Body.String()); diff != "" {
				t.Errorf("%s\nanswer (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func write(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
}
