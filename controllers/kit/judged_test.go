// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/bounds"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
)

// frame is an event in protobuf as it is sent.
func frame(event string) string {
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(event)))

	return string(length[:]) + event
}

// TestJudge has a server answer with what is short and takes much memory, or much time, once it is decoded.
func TestJudge(t *testing.T) {
	t.Parallel()
	of := kit.Bounds{Answer: 1 << 20, Event: 64 << 10, Limits: bounds.Limits{Entries: 1000, Total: 5000, InText: 1000}}
	// An event in protobuf has a type and an object, which is a message with its kind and its content.
	object := "k8s\x00" + "\x0a\x04\x12\x02hi" + "\x12\xc8\x65" + strings.Repeat("\x12\x00", 6500)
	event := "\x0a\x05ADDED" + "\x12\xd8\x65" + "\x0a\xd5\x65" + object
	for name, tc := range map[string]struct {
		reason, contentType, body string
		watches                   bool
		// want is what is passed on before the error.
		want, err string
	}{
		"list":            {"a list is passed on as it is", asJSON, `{"items":[{},{}]}`, false, `{"items":[{},{}]}`, ""},
		"text":            {"so is what is no JSON", "text/plain", "ok", false, "ok", ""},
		"empty":           {"and nothing", asJSON, "", false, "", ""},
		"long":            {"an answer that is too long is not", asJSON, strings.Repeat(" ", 1<<20+1), false, "", "more than 1024 KiB"},
		"empties":         {"entries of two bytes each take a kilobyte", asJSON, `{"items":[` + strings.Repeat("{},", 5000) + `{}]}`, false, "", "too much to read"},
		"nested empties":  {"whatever list they are in", asJSON, `{"items":[` + strings.Repeat(`{"a":[{},{},{},{}]},`, 900) + `{}]}`, false, "", "too much to read"},
		"protobuf":        {"in protobuf too", asProtobuf, "k8s\x00\x12\xc0\xb8\x02" + strings.Repeat("\x12\x00", 20_000), false, "", "too much to read"},
		"quantity":        {"a quantity computes for minutes", asJSON, `{"capacity":{"cpu":"123456789012345678e999999999"}}`, false, "", "too much to read"},
		"events":          {"events are passed on", asJSON, "{\"a\":\"}\\\"\"}\n{\"b\":[1]}\n", true, "{\"a\":\"}\\\"\"}\n{\"b\":[1]}\n", ""},
		"event":           {"until one of them costs too much", asJSON, `{"type":"ADDED"}` + `{"object":{"items":[` + strings.Repeat("{},", 5000) + `{}]}}`, true, `{"type":"ADDED"}`, "too much to read"},
		"quantity, event": {"in whatever way", asJSON, `{"object":{"cpu":1e999999999}}`, true, "", "too much to read"},
		"long event":      {"or is too long", asJSON, `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, true, "", "more than 64 KiB"},
		"half an event":   {"one that is cut off is for the decoder to refuse", asJSON, `{"a":`, true, `{"a":`, ""},
		"frames":          {"events in protobuf are passed on", asProtobuf, frame("\x0a\x01a") + frame("\x0a\x01b"), true, frame("\x0a\x01a") + frame("\x0a\x01b"), ""},
		"frame":           {"until one of them costs too much", asProtobuf, frame("\x0a\x01a") + frame(event), true, frame("\x0a\x01a"), "too much to read"},
		"long frame":      {"or is too long", asProtobuf, frame("\x0a\x01a") + "\x7f\xff\xff\xff", true, frame("\x0a\x01a"), "more than 64 KiB"},
		"capitals":        {"clients read capitals", "application/vnd.kubernetes.PROTOBUF;stream=watch", frame("\x0a\x01a") + frame(event), true, frame("\x0a\x01a"), "too much to read"},
		"capitals, JSON":  {"in whatever encoding", "Application/JSON", `{"type":"ADDED"}` + `{"object":{"cpu":1e999999999}}`, true, `{"type":"ADDED"}`, "too much to read"},
		"other protobuf":  {"what only sounds like an encoding is refused", "application/x-protobuf", frame(event), true, "", "nobody asked for"},
		"protobuf inside": {"wherever it sounds like it", "application/json;a=protobuf", `{"object":{"cpu":1e999999999}}`, true, "", "too much to read"},
		"YAML":            {"clients would read YAML", "application/yaml", "a: 1", false, "", "nobody asked for"},
		"YAML, events":    {"in watches as well", "application/yaml", "a: 1", true, "", "nobody asked for"},
		"CBOR":            {"and CBOR", "application/cbor", "\xa0", false, "", "nobody asked for"},
		"nonsense":        {"a type that cannot be read is none", "application/json; =", "{}", false, "", "nobody asked for"},
		"text, watch":     {"a text is no watch", "text/plain", "ok", true, "", "nobody asked for"},
		"no type":         {"an answer need not say what it is", "", "{}", false, "{}", ""},
		"no type, watch":  {"a watch must", "", "{}", true, "", "nobody asked for"},
		"last event":      {"what is cut off is judged before it is passed on", asJSON, `{"object":{"cpu":1e999999999}`, true, "", "too much to read"},
		"half a frame":    {"or is cut off", asProtobuf, frame("\x0a\x01a")[:5], true, "", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := &http.Response{Header: http.Header{"Content-Type": {tc.contentType}}, Body: io.NopCloser(strings.NewReader(tc.body))}
			var got []byte
			err := of.Judge(response, tc.watches)
			if err == nil {
				got, err = io.ReadAll(response.Body)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// TestJudgeError has a server refuse a watch: that is one answer, and no event.
func TestJudgeError(t *testing.T) {
	t.Parallel()
	of := kit.Bounds{Answer: 1 << 10, Event: 1 << 10, Limits: bounds.Limits{Entries: 10, Total: 10, InText: 10}}
	for contentType, body := range map[string]string{asJSON: `{"kind":"Status"} `, asProtobuf: "k8s\x00\x0a\x04\x12\x02hi", "text/plain": "no"} {
		response := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}
		if err := of.Judge(response, true); err != nil {
			t.Fatalf("Judge(%s) = %v", contentType, err)
		}
		if got, err := io.ReadAll(response.Body); err != nil || string(got) != body {
			t.Errorf("an answer in %s is passed on as %q, %v", contentType, got, err)
		}
	}
}
