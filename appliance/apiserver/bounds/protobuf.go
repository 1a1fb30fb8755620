// SPDX-License-Identifier: Apache-2.0

package bounds

import "encoding/json"

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
func checkProtobuf(message []byte) error {
	return (&budget{}).message(message, 0)
}

func (b *budget) message(message []byte, depth int) error {
	fields, rest := 0, message
	for len(rest) > 0 {
		tag, n := varint(rest)
		if n == 0 {
			return nil
		}
		rest = rest[n:]
		skip := 0
		switch tag & 7 {
		case wireVarint:
			if _, skip = varint(rest); skip == 0 {
				return nil
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
				return nil
			}
			fields++
			skip = int(length) //nolint:gosec // It is at most the length of the body.
			if err := b.value(rest[:skip], depth); err != nil {
				return err
			}
		default:
			return nil
		}
		if skip > len(rest) {
			return nil
		}
		rest = rest[skip:]
	}
	if fields > MaxEntries && repeats(message) {
		return tooMany(MaxEntries)
	}

	return nil
}

// repeats reports whether a field with a length occurs too often in a valid message. Entries of maps and lists are such
// fields. Bytes with field number 0 are not a message.
func repeats(rest []byte) bool {
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
			many = many || counts[tag] > MaxEntries
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
	if looksLikeJSON(value) && json.Valid(value) {
		return checkJSON(value, b, MaxEntriesInText)
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
