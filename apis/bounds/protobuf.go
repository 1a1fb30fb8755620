// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"bytes"
	"encoding/json"
)

// The kinds of fields of protobuf, by the low bits of their tags.
const (
	wireVarint = iota
	wireFixed64
	wireBytes
	wireGroup
	wireGroupEnd
	wireFixed32
)

// checkProtobuf checks each value of a message that has a length: a text, bytes or a message, which cannot be distinguished
// without the kind. Values that are JSON are checked as JSON, because raw extensions are JSON.
func checkProtobuf(message []byte, b *budget) error { return b.message(message, 0) }

const (
	// certain is the number of fields after which a value is a message, although it cannot be read to its end: a text is not read
	// that far by chance. Decoding it would make all that comes before the end.
	certain = 1000
	// asFields is how many fields with a length an entry has in protobuf, at most: an entry of a map is one that contains two.
	asFields = 3
)

func (b *budget) message(message []byte, depth int) error {
	fields, whole, err := b.fields(message, depth)
	if err != nil {
		return err
	}
	if whole || fields > certain {
		if err := b.count(fields, asFields*b.limits.Total); err != nil {
			return err
		}
	}
	if whole && fields > b.limits.Entries && repeats(message, b.limits.Entries) {
		return tooMany(b.limits.Entries)
	}

	return nil
}

// fields checks and counts the fields with a length, and says whether they are the whole of a message.
func (b *budget) fields(message []byte, depth int) (fields int, whole bool, err error) {
	for rest := message; len(rest) > 0; {
		tag, n := varint(rest)
		if n == 0 {
			return fields, false, nil
		}
		rest = rest[n:]
		skip := 0
		switch tag & 7 {
		case wireVarint:
			if _, skip = varint(rest); skip == 0 {
				return fields, false, nil
			}
		case wireFixed64:
			skip = 8
		case wireFixed32:
			skip = 4
		case wireGroup, wireGroupEnd:
			// The fields of a group are checked like those of the message around it.
		case wireBytes:
			length, n := varint(rest)
			rest = rest[n:]
			if n == 0 || length > uint64(len(rest)) {
				return fields, false, nil
			}
			fields++
			skip = int(length) //nolint:gosec // It is at most the length of the body.
			if err := b.value(rest[:skip], depth); err != nil {
				return fields, false, err
			}
		default:
			return fields, false, nil
		}
		if skip > len(rest) {
			return fields, false, nil
		}
		rest = rest[skip:]
	}

	return fields, true, nil
}

// repeats reports whether a field with a length occurs too often in a valid message. Entries of maps and lists are such
// fields. Bytes with field number 0 are not a message.
func repeats(rest []byte, entries int) bool {
	counts := map[uint64]int{}
	many := false
	for len(rest) > 0 {
		tag, n := varint(rest)
		if tag>>3 == 0 {
			return false
		}
		rest = rest[n:]
		switch tag & 7 {
		case wireVarint:
			_, n = varint(rest)
		case wireFixed64:
			n = 8
		case wireFixed32:
			n = 4
		case wireBytes:
			length, width := varint(rest)
			n = width + int(length) //nolint:gosec // The message was seen to be whole.
			counts[tag]++
			many = many || counts[tag] > entries
		default:
			n = 0
		}
		rest = rest[n:]
	}

	return many
}

// value checks a text, a message or JSON.
func (b *budget) value(value []byte, depth int) error {
	if depth == MaxDepth {
		return tooDeep()
	}
	if err := b.spend(value); err != nil {
		return err
	}
	if object, ok := bytes.CutPrefix(value, []byte(Magic)); ok { // That of an event.
		return b.message(object, depth+1)
	}
	if looksLikeJSON(value) && json.Valid(value) {
		return checkJSON(value, b, b.limits.InText)
	}

	return b.message(value, depth+1)
}

// varint reads a number as generated code does, which drops excess bits, and returns it with its length, which is 0 if there is
// no number.
func varint(from []byte) (uint64, int) {
	var value uint64
	for i := 0; i < len(from) && i < 10; i++ {
		value |= uint64(from[i]&0x7f) << (7 * i)
		if from[i] < 0x80 {
			return value, i + 1
		}
	}

	return 0, 0
}
