// SPDX-License-Identifier: Apache-2.0

// Package bounds refuses bodies of requests that would be expensive to decode.
//
// A few bytes can cost minutes: reading, comparing and writing the quantity 1e99999999 computes with a hundred million
// digits, and decoding does so before anything is validated; maps that are nested some thousand times take time that grows
// with the square of their depth, and so do maps and lists of some ten thousand entries, whose managed fields are kept in order
// one by one. All are judged on the bytes of a body, without knowing its kind: a text counts only if it
// is a quantity from its first to its last character, so longer texts may say what they like.
package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"
)

const (
	// MaxDepth is how deep objects and arrays may be nested. The deepest objects are CustomResourceDefinitions: those of
	// whole pods reach about 50.
	MaxDepth = 200
	// MaxDigits is how many digits a quantity may have when it is written without an exponent. The largest value of a
	// quantity has 19; 1000 digits take 0.4 ms.
	MaxDigits = 1000
	// MaxDigitsTotal bounds the digits of all quantities of a body that have more than fewDigits.
	MaxDigitsTotal = 20_000

	// MaxEntries is how many entries an object or array may have. Of those that are in use, the largest have some hundred.
	MaxEntries = 5000
	// MaxEntriesInText bounds those of JSON in a message of protobuf, which may be the text of a file in a ConfigMap as well.
	MaxEntriesInText = 20_000

	fewDigits = 100
)

// protobufMagic starts each object in the protobuf encoding of Kubernetes.
const protobufMagic = "k8s\x00"

// With lets requests for resources pass to a handler whose bodies are within bounds. Longer bodies than limit pass as well:
// that handler refuses them.
func With(next http.Handler, limit int64, s runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || !about.IsResourceRequest || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)

			return
		}
		body, err := read(r, limit)
		if err == nil && int64(len(body)) <= limit {
			err = Check(body, r.Header.Get("Content-Type"))
		}
		if err != nil {
			responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), s,
				schema.GroupVersion{Group: about.APIGroup, Version: about.APIVersion}, w, r)

			return
		}
		next.ServeHTTP(w, r)
	})
}

// read returns what a body begins with, at most one byte more than limit, and leaves the body to be read from its start.
func read(r *http.Request, limit int64) ([]byte, error) {
	var start bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= limit {
		start.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := io.Copy(&start, io.LimitReader(r.Body, limit+1)); err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start.Bytes()), r.Body), r.Body}

	return start.Bytes(), nil
}

// Check says why a body is too expensive to decode. It does not say whether a body can be decoded at all.
func Check(body []byte, contentType string) error {
	if object, ok := bytes.CutPrefix(body, []byte(protobufMagic)); ok {
		return checkProtobuf(object)
	}
	if !strings.Contains(strings.ToLower(contentType), "yaml") {
		return checkJSON(body, &budget{}, MaxEntries)
	}
	// Nearly everybody sends JSON as YAML, as it is faster.
	if looksLikeJSON(body) {
		if err := checkJSON(body, &budget{}, MaxEntries); err != nil || json.Valid(body) {
			return err
		}
	}
	// Escapes, folded lines and anchors are best read by who reads them afterwards.
	converted, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil //nolint:nilerr // The decoder finds the same, and says so in its own words.
	}

	return checkJSON(converted, &budget{}, MaxEntries)
}

// looksLikeJSON reports whether a text begins as an object or an array does.
func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")

	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// budget is what the quantities of a body may cost together.
type budget struct{ digits int }

// spend takes what a text costs if it is a quantity.
func (b *budget) spend(text []byte) error {
	digits := quantityDigits(text)
	if digits <= fewDigits {
		return nil
	}
	b.digits += digits
	if digits > MaxDigits {
		return fmt.Errorf("the body holds %s: as a quantity it would have more than %d digits, write it in another way",
			abbreviate(text), MaxDigits)
	}
	if b.digits > MaxDigitsTotal {
		return fmt.Errorf("the body holds too many long numbers, such as %s: quantities of more than %d digits may have %d together",
			abbreviate(text), fewDigits, MaxDigitsTotal)
	}

	return nil
}

func tooDeep() error {
	return fmt.Errorf("the body is nested deeper than %d objects and arrays", MaxDepth)
}

func tooMany(entries int) error {
	return fmt.Errorf("the body holds an object or array of more than %d entries", entries)
}

func abbreviate(text []byte) string {
	const shown = 40
	if len(text) > shown {
		return fmt.Sprintf("%q...", text[:shown])
	}

	return fmt.Sprintf("%q", text)
}
