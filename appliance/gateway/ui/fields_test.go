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
	const seeds, wants = "/apis/x/v1/seeds", `{"spec":{"region":true}}`
	list, watch := wanted{object: region}, wanted{object: region, watch: true}
	for name, tc := range map[string]struct {
		reason, header, target string
		want                   wanted
		wrong                  bool
	}{
		"none":       {reason: "Without the header all fields are kept.", target: "/api/v1/secrets"},
		"list":       {reason: "What identifies an object is kept.", header: wants, target: seeds, want: list},
		"metadata":   {reason: "Who wants all of it gets all.", header: `{"metadata":true}`, target: seeds, want: wanted{object: fields{"metadata": nil}}},
		"object":     {reason: "An object is neither list nor watch.", header: wants, target: seeds + "/one?watch=1"},
		"other path": {reason: "Nor is what the API has beside objects.", header: wants, target: "/appliance/status?watch=1"},
		"1":          {reason: "A watch has events.", header: wants, target: seeds + "?watch=1", want: watch},
		"true":       {reason: "The API takes this for a watch.", header: wants, target: seeds + "?watch=true", want: watch},
		"True":       {reason: "The API takes this for a watch.", header: wants, target: seeds + "?watch=True", want: watch},
		"yes":        {reason: "The API takes every other word for true.", header: wants, target: seeds + "?watch=yes", want: watch},
		"f":          {reason: "Also those that Go takes for false.", header: wants, target: seeds + "?watch=f", want: watch},
		"empty":      {reason: "Also none.", header: wants, target: seeds + "?watch=", want: watch},
		"bare":       {reason: "Also without a sign.", header: wants, target: seeds + "?watch", want: watch},
		"escaped":    {reason: "However it is written.", header: wants, target: seeds + "?w%61tch=%79es", want: watch},
		"first":      {reason: "The first one counts.", header: wants, target: seeds + "?watch=yes&watch=0", want: watch},
		"initial":    {reason: "A list may come as events.", header: wants, target: seeds + "?sendInitialEvents=true&watch=on&resourceVersionMatch=NotOlderThan", want: watch},
		"unreadable": {reason: "A mistake elsewhere changes nothing.", header: wants, target: seeds + "?limit=x&watch=yes", want: watch},
		"old path":   {reason: "The old way to watch is in the path.", header: wants, target: "/api/v1/watch/namespaces/a/secrets", want: watch},
		"old object": {reason: "There it may be one object.", header: wants, target: "/apis/x/v1/watch/seeds/one?watch=0", want: watch},
		"0":          {reason: "This is a list.", header: wants, target: seeds + "?watch=0", want: list},
		"FALSE":      {reason: "This is a list.", header: wants, target: seeds + "?watch=FALSE", want: list},
		"Watch":      {reason: "Parameters have small letters.", header: wants, target: seeds + "?Watch=1", want: list},
		"only":       {reason: "This alone makes no watch.", header: wants, target: seeds + "?sendInitialEvents=true", want: list},
		"namespace":  {reason: "A namespace may have that name.", header: wants, target: "/api/v1/namespaces/watch/secrets", want: list},
		"number":     {reason: "A tree has no other leaves than true.", header: `{"spec":1}`, target: "/api/v1/secrets", wrong: true},
		"nothing":    {reason: "No field at all is a mistake.", header: `{}`, target: "/api/v1/secrets", wrong: true},
		"whole":      {reason: "So is every field.", header: `true`, target: "/api/v1/secrets", wrong: true},
		"deep":       {reason: "The tree is limited.", header: strings.Repeat(`{"a":`, 700) + "true" + strings.Repeat("}", 700), target: "/api/v1/secrets", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.target, http.NoBody)
			got, err := requestedFields(tc.header, r)
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
