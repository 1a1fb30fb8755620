// SPDX-License-Identifier: Apache-2.0

// Package bounds finds texts that would be expensive to decode: bodies of requests to an API server, and answers of one that is not trusted.
//
// A few bytes can cost minutes: reading, comparing and writing the quantity 1e99999999 computes with a hundred million digits,
// and decoding does so before anything is validated; maps that are nested some thousand times take time that grows with the
// square of their depth, and so do maps and lists of some ten thousand entries, whose managed fields are sorted one by one. An entry
// of a list can be two bytes long and take a kilobyte once it is decoded, and each can be one more error to report. The
// checks use the bytes, without knowing their kind: a string is checked only if it is a quantity from its first to its
// last character, so other strings may have any content.
package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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

	fewDigits = 100
)

// Limits are those that depend on what a body is for.
type Limits struct {
	// Entries is the maximum number of entries of one object or array.
	Entries int
	// Total is the maximum number of all of its entries, objects and arrays together.
	Total int
	// InText is the maximum number of entries of an object or array that is JSON in a protobuf message, which can also be a file in a
	// ConfigMap.
	InText int
}

// Magic is the prefix of each object in the protobuf encoding of Kubernetes.
const Magic = "k8s\x00"

// Check returns an error if a body is too expensive to decode. It does not check whether the body is valid.
func Check(body []byte, contentType string, limits Limits) error {
	b := &budget{limits: limits}
	if object, ok := bytes.CutPrefix(body, []byte(Magic)); ok {
		return checkProtobuf(object, b)
	}
	if !strings.Contains(strings.ToLower(contentType), "yaml") {
		return checkJSON(body, b, limits.Entries)
	}
	// Most clients send JSON as YAML, because that is faster.
	if looksLikeJSON(body) {
		if err := checkJSON(body, b, limits.Entries); err != nil || json.Valid(body) {
			return err
		}
	}
	// The parser that is used afterwards resolves escapes, folded lines and anchors.
	converted, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil //nolint:nilerr // The decoder reports the error.
	}

	return checkJSON(converted, &budget{limits: limits}, limits.Entries)
}

// looksLikeJSON reports whether a text begins like an object or an array.
func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")

	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// budget is what a body has spent of what it may have together.
type budget struct {
	limits Limits
	digits int
	// total counts entries, objects and arrays.
	total int
}

// count adds entries, objects or arrays. At most says how many there may be.
func (b *budget) count(n, atMost int) error {
	if b.total += n; b.total > atMost {
		return fmt.Errorf("the body contains more than %d entries of objects and arrays together", b.limits.Total)
	}

	return nil
}

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
