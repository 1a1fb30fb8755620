// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answering returns an answer to a browser, and what prunes it to the field a.
func answering(t *testing.T, watch bool) (*httptest.ResponseRecorder, *pruned) {
	t.Helper()
	in := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	in.Header.Set("Accept-Encoding", "gzip")
	out := httptest.NewRecorder()
	out.Header().Set("Content-Type", "application/json")

	return out, prune(out, in, wanted{object: fields{"a": nil}, watch: watch})
}

// read returns what the browser reads.
func read(t *testing.T, from *httptest.ResponseRecorder) string {
	t.Helper()
	if from.Header().Get("Content-Encoding") != "gzip" {
		return from.Body.String()
	}
	unpacked, err := gzip.NewReader(from.Body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

func TestPrunedAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 40<<10)
	huge := `{"a":1,"x":"` + strings.Repeat("x", maxHeld) + `"}`
	for name, tc := range map[string]struct {
		reason string
		watch  bool
		status int
		answer string
		want   string
	}{
		"list":      {reason: "The fields of objects are pruned.", answer: `{"kind":"L","other":[{}],"items":[{"a":1,"x":2},{"x":"]"},{"a":[{}]}]}` + "\n", want: `{"kind":"L","items":[{"a":1},{},{"a":[{}]}]}` + "\n"},
		"order":     {reason: "The fields of a list have any order.", answer: `{"items":[{"x":2}],"metadata":{"x":1},"n":12,"kind":"L"}`, want: `{"items":[{}],"metadata":{"x":1},"kind":"L"}` + "\n"},
		"empty":     {reason: "A list may be empty.", answer: `{"items":[]}`, want: `{"items":[]}` + "\n"},
		"null":      {reason: "Or be none.", answer: `{"items":null}`, want: `{"items":null}` + "\n"},
		"large":     {reason: "A large list is compressed.", answer: `{"items":[{"a":"` + long + `","x":1},{"a":"` + long + `"}]}`, want: `{"items":[{"a":"` + long + `"},{"a":"` + long + `"}]}` + "\n"},
		"spaces":    {reason: "What is made for people is kept.", answer: "{\n  \"items\": [ {\"x\": 2} ]\n}\n", want: "{\n  \"items\": [ {\"x\": 2} ]\n}\n"},
		"no object": {reason: "What is no list is kept.", answer: `[{"x":1}]`, want: `[{"x":1}]`},
		"broken":    {reason: "What does not end is kept from there.", answer: `{"items":[{"x":1},{"x":`, want: `{"items":[{},{"x":`},
		"huge":      {reason: "What is too large to be held is kept, with all that follows.", answer: `{"items":[{"x":1},` + huge + `,{"x":1}]}`, want: `{"items":[{},` + huge + `,{"x":1}]}`},
		"watch":     {reason: "The objects of events are pruned, and errors are passed on as they are.", watch: true, answer: `{"type":"ADDED","object":{"a":1,"x":2}}` + "\n" + `{"type":"ERROR","object":{"x":2}}` + "\n", want: `{"type":"ADDED","object":{"a":1}}` + "\n" + `{"type":"ERROR","object":{"x":2}}` + "\n"},
		"no event":  {reason: "What is no event is kept.", watch: true, answer: "{ }\n[1\n\n", want: "{ }\n[1\n\n"},
		"refused":   {reason: "A refusal is no object.", status: http.StatusForbidden, answer: `{"kind":"Status","x":1}`, want: `{"kind":"Status","x":1}`},
	} {
		for _, piece := range []int{1, 7, 32 << 10, maxHeld / 2} {
			if len(tc.answer)/piece > 1<<10 {
				continue
			}
			t.Run(fmt.Sprintf("%s by %d", name, piece), func(t *testing.T) {
				t.Parallel()
				out, p := answering(t, tc.watch)
				if tc.status != 0 {
					p.WriteHeader(tc.status)
				}
				for data := []byte(tc.answer); len(data) > 0; {
					part := min(piece, len(data))
					if n, err := p.Write(bytes.Clone(data[:part])); n != part || err != nil {
						t.Fatalf("%s\nWrite(...) = %d, %v; want %d", tc.reason, n, err, part)
					}
					data = data[part:]
				}
				p.finish()
				got := read(t, out)
				if len(got) > 1<<10 && got != tc.want {
					t.Fatalf("%s\ngot %d bytes, want %d: %.200s", tc.reason, len(got), len(tc.want), got)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nanswer (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestPrunedMemory: whatever is pruned, and for how long, nothing but an object or event that is not complete is held.
func TestPrunedMemory(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("large ", 150<<10)
	for name, tc := range map[string]struct {
		reason           string
		watch            bool
		begin, part, end string
		most, words      int
	}{
		"list":            {reason: "Of a list no object is held that is complete.", begin: `{"items":[{}`, part: `,{"a":"` + large + `"}`, end: "]}", most: 2 * maxIdle, words: 30},
		"watch":           {reason: "Of a watch no event is held.", watch: true, part: `{"type":"ADDED","object":{"a":"` + large + `"}}` + "\n", most: 2 * maxIdle, words: 30},
		"watch as a list": {reason: "Nor of a watch that looks like a list.", part: `{"type":"ADDED","object":{"a":"` + large + `"}}` + "\n", most: 2 * maxIdle, words: 29},
		"list as a watch": {reason: "Of what does not end, there is a limit.", watch: true, begin: `{"items":[{}`, part: `,{"a":"` + large + `"}`, end: "]}", most: 4 * maxHeld, words: 30},
		"no end":          {reason: "Of an object that does not end, there is a limit.", begin: `{"items":[{"x":"`, part: large, most: 4 * maxHeld, words: 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, p := answering(t, tc.watch)
			parts := slices.Concat([]string{tc.begin}, slices.Repeat([]string{tc.part}, 30), []string{tc.end})
			for i, part := range parts {
				write(p, part)
				if held := cap(p.head) + cap(p.held) + cap(p.output); held > tc.most {
					t.Fatalf("%s\nafter part %d it holds %d bytes, want at most %d", tc.reason, i, held, tc.most)
				}
			}
			p.finish()
			if got := strings.Count(read(t, out), "large"); got != tc.words*(150<<10) {
				t.Errorf("%s\nthe browser gets %d words, want %d", tc.reason, got, tc.words*(150<<10))
			}
		})
	}
}

func write(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
}
