// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

// errChanged says that a message has become longer since it was measured.
var errChanged = errors.New("the object was changed while it was written")

// rawNumber is the number of the only field of messages that hold JSON.
const rawNumber = 1

// Writer writes a message from its end to its beginning, so that the length of each part is known when it has to be written.
// A Writer without a buffer only counts bytes.
type Writer struct {
	buffer []byte
	used   int
	err    error
}

// Size is the number of bytes that a message takes.
func Size(m Message) int {
	w := &Writer{}
	m.WriteWire(w)

	return w.used
}

// Marshal returns the bytes of a message.
func Marshal(m Message) ([]byte, error) {
	buffer := make([]byte, Size(m))
	n, err := MarshalToSizedBuffer(m, buffer)

	return buffer[len(buffer)-n:], err
}

// MarshalTo writes a message to the beginning of a buffer and returns how many bytes that are.
func MarshalTo(m Message, buffer []byte) (int, error) {
	size := Size(m)
	if size > len(buffer) {
		return 0, fmt.Errorf("write %T: the buffer has %d bytes of %d", m, len(buffer), size)
	}

	return MarshalToSizedBuffer(m, buffer[:size])
}

// MarshalToSizedBuffer writes a message to the end of a buffer and returns how many bytes that are.
func MarshalToSizedBuffer(m Message, buffer []byte) (int, error) {
	if buffer == nil {
		buffer = []byte{}
	}
	w := &Writer{buffer: buffer}
	m.WriteWire(w)
	if w.err != nil {
		return 0, fmt.Errorf("write %T: %w", m, w.err)
	}

	return w.used, nil
}

// String writes a field.
func (w *Writer) String(number protowire.Number, value string) {
	if place := w.take(len(value)); place != nil {
		copy(place, value)
	}
	w.length(number, len(value))
}

// Bytes writes a field.
func (w *Writer) Bytes(number protowire.Number, value []byte) {
	if place := w.take(len(value)); place != nil {
		copy(place, value)
	}
	w.length(number, len(value))
}

// Bool writes a field.
func (w *Writer) Bool(number protowire.Number, value bool) {
	w.varint(protowire.EncodeBool(value))
	w.varint(protowire.EncodeTag(number, protowire.VarintType))
}

// Int writes a field.
func (w *Writer) Int(number protowire.Number, value int64) {
	w.varint(uint64(value)) //nolint:gosec // Protobuf writes negative numbers as their two's complement.
	w.varint(protowire.EncodeTag(number, protowire.VarintType))
}

// Float writes a field.
func (w *Writer) Float(number protowire.Number, value float64) {
	if place := w.take(8); place != nil {
		protowire.AppendFixed64(place[:0], math.Float64bits(value))
	}
	w.varint(protowire.EncodeTag(number, protowire.Fixed64Type))
}

// Message writes a field, even if the message is empty.
func (w *Writer) Message(number protowire.Number, value Message) {
	end := w.End()
	value.WriteWire(w)
	w.Close(number, end)
}

// Part writes a field unless the message is empty.
func (w *Writer) Part(number protowire.Number, value Message) {
	end := w.End()
	value.WriteWire(w)
	if w.used > end {
		w.Close(number, end)
	}
}

// Foreign writes a field, even if the message is empty.
func (w *Writer) Foreign(number protowire.Number, value Foreign) {
	w.length(number, w.foreign(value))
}

// ForeignPart writes a field unless the message is empty.
func (w *Writer) ForeignPart(number protowire.Number, value Foreign) {
	if size := w.foreign(value); size > 0 {
		w.length(number, size)
	}
}

// Raw writes a field with a message that holds JSON.
func (w *Writer) Raw(number protowire.Number, value []byte) {
	end := w.End()
	if value != nil {
		w.Bytes(rawNumber, value)
	}
	w.Close(number, end)
}

// Extension writes a field with an object of any kind as JSON.
func (w *Writer) Extension(number protowire.Number, value *runtime.RawExtension) {
	raw := value.Raw
	if raw == nil && value.Object != nil {
		var err error
		if raw, err = json.Marshal(value.Object); err != nil {
			w.fail(err)
		}
	}
	w.Raw(number, raw)
}

// End returns the position at which the part that is written next ends.
func (w *Writer) End() int { return w.used }

// Close writes the tag and the length of the part that was written since End.
func (w *Writer) Close(number protowire.Number, end int) { w.length(number, w.used-end) }

// Keys returns the keys of a map in the order in which its entries are written: the last one first, so that equal
// objects are equal bytes.
func Keys[K cmp.Ordered, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.SortFunc(keys, func(a, b K) int { return cmp.Compare(b, a) })

	return keys
}

// foreign writes a message without its frame and returns its size.
func (w *Writer) foreign(value Foreign) int {
	if w.buffer == nil {
		size := value.Size()
		w.used += size

		return size
	}
	if w.err != nil {
		return 0
	}
	n, err := marshalForeign(value, w.buffer[:len(w.buffer)-w.used])
	if err != nil {
		w.fail(err)

		return 0
	}
	w.used += n

	return n
}

// marshalForeign writes to the end of a buffer and turns the panic of Kubernetes' generated code into an error if the buffer is
// too short.
func marshalForeign(value Foreign, buffer []byte) (n int, err error) {
	defer func() {
		if recover() != nil {
			err = errChanged
		}
	}()

	return value.MarshalToSizedBuffer(buffer)
}

// length writes the tag and the length of a part of size bytes.
func (w *Writer) length(number protowire.Number, size int) {
	w.varint(uint64(size)) //nolint:gosec // A size is never negative.
	w.varint(protowire.EncodeTag(number, protowire.BytesType))
}

func (w *Writer) varint(value uint64) {
	if place := w.take(protowire.SizeVarint(value)); place != nil {
		protowire.AppendVarint(place[:0], value)
	}
}

// take returns the place for the next n bytes, or nil where nothing is to be written.
func (w *Writer) take(n int) []byte {
	w.used += n
	if w.buffer == nil || w.err != nil {
		return nil
	}
	at := len(w.buffer) - w.used
	if at < 0 {
		w.fail(errChanged)

		return nil
	}

	return w.buffer[at : at+n : at+n]
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
