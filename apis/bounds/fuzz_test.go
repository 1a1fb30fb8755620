// SPDX-License-Identifier: Apache-2.0

package bounds_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/apis/bounds"
)

var exponent = regexp.MustCompile(`^[+-]?[0-9]*\.?[0-9]*[eE][+-]?([0-9]+)$`)

// FuzzCheck compares what is said about JSON with the tokens that encoding/json finds. Nothing panics.
func FuzzCheck(f *testing.F) {
	for _, body := range []string{
		`{"a":"1e99999999"}`, `[1e99999999,-1.5E+3]`, `["\u0031e9999","\"1e9999","\\"]`, `{"labels":{"a":"12e4567"}}`, "a: 1e99999", "k8s\x00\x0a\x061e9999",
		`{"a":{"b":[{}]}}`, strings.Repeat("[", 201) + strings.Repeat("]", 201), `"e9999"`, `" 1e9999 "`, "\x7b\x7c",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = bounds.Check(body, asYAML, limits)
		_ = bounds.Check(append([]byte("k8s\x00"), body...), asProtobuf, limits)
		err := bounds.Check(body, asJSON, limits)
		if !json.Valid(body) || bytes.HasPrefix(body, []byte("k8s\x00")) {
			return
		}
		long, numbers := tokens(t, body)
		switch deep := depth(body); {
		case deep > bounds.MaxDepth && err == nil:
			t.Errorf("Check(%q): got no error, it is %d deep", body, deep)
		case long != "" && err == nil && !mayBeOpaque(body):
			t.Errorf("Check(%q): got no error, it holds %q", body, long)
		case long == "" && err != nil && deep <= bounds.MaxDepth && numbers < 100:
			t.Errorf("Check(%q): %v", body, err)
		}
	})
}

// tokens returns a token of JSON that is a quantity with a large exponent, and the length of the longest token.
func tokens(t *testing.T, body []byte) (string, int) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	found, longest := "", 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return found, longest
		}
		text, ok := token.(string)
		if number, is := token.(json.Number); is {
			text, ok = number.String(), true
		}
		longest = max(longest, len(text))
		if match := exponent.FindStringSubmatch(strings.TrimSpace(text)); ok && match != nil {
			if value, err := strconv.Atoi(match[1]); err != nil || value > bounds.MaxDigits {
				found = text
			} else if value > 0 {
				longest = max(longest, value)
			}
		}
	}
}

// mayBeOpaque reports whether a body may have fields whose texts are not judged, which it may as well spell with escapes.
func mayBeOpaque(body []byte) bool {
	return bytes.Contains(body, []byte("\\u")) || bytes.Contains(body, []byte("abels")) || bytes.Contains(body, []byte("ata")) || bytes.Contains(body, []byte("annot"))
}
