// SPDX-License-Identifier: Apache-2.0

// Package bounds rejects bodies of requests that would be expensive to decode.
//
// A few bytes can cost minutes: reading, comparing and writing the quantity 1e99999999 computes with a hundred million digits,
// and decoding does so before anything is validated; maps that are nested some thousand times take time that grows with the
// square of their depth, and so do maps and lists of some ten thousand entries, whose managed fields are sorted one by one. The
// checks use the bytes of a body, without knowing its kind (but for the length of a CertificateSigningRequest): a string is checked only if it is a quantity from its first to its
// last character, so other strings may have any content.
package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"
)

const (
	// MaxDepth is the maximum nesting depth of objects and arrays. The deepest objects are CustomResourceDefinitions: those of
	// whole pods reach about 50.
	MaxDepth = 200
	// MaxDigits is the maximum number of digits of a quantity that is written without an exponent. The largest value of a
	// quantity has 19; 1000 digits take 0.4 ms.
	MaxDigits = 1000
	// MaxDigitsTotal is the maximum total number of digits of all quantities in a body that have more than fewDigits.
	MaxDigitsTotal = 20_000

	// MaxEntries is the maximum number of entries of an object or array. The largest ones in use have some hundred.
	MaxEntries = 5000
	// MaxEntriesInText is the maximum for JSON in a protobuf message, which can also be a file in a ConfigMap.
	MaxEntriesInText = 20_000

	// MaxCertificateRequest is the maximum length of a CertificateSigningRequest, in bytes. Its signature is verified before any rule sees
	// it, in a time that grows with the square of the length of the key; a request for a usual key has less than 4 KiB.
	MaxCertificateRequest = 16 << 10

	fewDigits = 100
)

// protobufMagic is the prefix of each object in the protobuf encoding of Kubernetes.
const protobufMagic = "k8s\x00"

// With passes requests for resources to a handler if their bodies are within bounds. It also passes bodies longer than
// limit, which the handler itself rejects.
func With(next http.Handler, limit int64, s runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || !about.IsResourceRequest || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)

			return
		}
		body, err := read(r, limit)
		switch {
		case err != nil:
		case len(body) > MaxCertificateRequest && requestsCertificate(about):
			err = fmt.Errorf("a CertificateSigningRequest of more than %d bytes; use an RSA key of at most 8192 bits, or one on an elliptic curve", MaxCertificateRequest)
		case int64(len(body)) <= limit:
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

// requestsCertificate reports whether the body of a request can be a CertificateSigningRequest that is created. Certificates and approvals
// are added by other parts of the API.
func requestsCertificate(about *genericapirequest.RequestInfo) bool {
	return about.APIGroup == certificatesv1.GroupName && about.Resource == "certificatesigningrequests" && about.Subresource == ""
}

// read returns the beginning of a body, at most one byte more than limit, and resets the body to its start.
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

// Check returns an error if a body is too expensive to decode. It does not check whether the body is valid.
func Check(body []byte, contentType string) error {
	if object, ok := bytes.CutPrefix(body, []byte(protobufMagic)); ok {
		return checkProtobuf(object)
	}
	if !strings.Contains(strings.ToLower(contentType), "yaml") {
		return checkJSON(body, &budget{}, MaxEntries)
	}
	// Most clients send JSON as YAML, because that is faster.
	if looksLikeJSON(body) {
		if err := checkJSON(body, &budget{}, MaxEntries); err != nil || json.Valid(body) {
			return err
		}
	}
	// The parser that is used afterwards resolves escapes, folded lines and anchors.
	converted, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil //nolint:nilerr // The decoder reports the error.
	}

	return checkJSON(converted, &budget{}, MaxEntries)
}

// looksLikeJSON reports whether a text begins like an object or an array.
func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")

	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// budget is the remaining cost that the quantities of a body may have together.
type budget struct{ digits int }

// spend subtracts the cost of a text if it is a quantity.
func (b *budget) spend(text []byte) error {
	digits := quantityDigits(text)
	if digits <= fewDigits {
		return nil
	}
	b.digits += digits
	if digits > MaxDigits {
		return fmt.Errorf("the body contains %s: as a quantity it would have more than %d digits; write it in another way",
			abbreviate(text), MaxDigits)
	}
	if b.digits > MaxDigitsTotal {
		return fmt.Errorf("the body contains too many long numbers, such as %s: quantities of more than %d digits may have %d digits together",
			abbreviate(text), fewDigits, MaxDigitsTotal)
	}

	return nil
}

func tooDeep() error {
	return fmt.Errorf("the body is nested deeper than %d objects and arrays", MaxDepth)
}

func tooMany(entries int) error {
	return fmt.Errorf("the body contains an object or array of more than %d entries", entries)
}

func abbreviate(text []byte) string {
	const shown = 40
	if len(text) > shown {
		return fmt.Sprintf("%q...", text[:shown])
	}

	return fmt.Sprintf("%q", text)
}
