// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message of two bytes may decode to a struct of a thousand. The memory that a reader allocates is limited to freely bytes
// plus memoryFactor for each byte of input: far more than objects need, far less than would harm a server.
const (
	freely       = 4 << 20
	memoryFactor = 64
)

var (
	errTooMuch = errors.New("too many empty parts")
	errNoText  = errors.New("the text is not UTF-8")
	errNoJSON  = errors.New("the content is not JSON")
)

// Reader reads the fields of a message, one after the other.
type Reader struct {
	data   []byte
	number protowire.Number
	form   protowire.Type
	bytes  []byte
	word   uint64
	// memory is how much may still be allocated, and depth how many messages enclose the current one.
	memory, depth int
	err           error
}

// Unmarshal adds what the bytes hold to a message.
func Unmarshal(m Message, data []byte) error {
	r := &Reader{data: data, memory: freely + memoryFactor*len(data)}
	m.ReadWire(r)
	if r.err != nil {
		return fmt.Errorf("read protobuf of %T: %w", m, r.err)
	}

	return nil
}

// Next reports whether there is another field.
func (r *Reader) Next() bool {
	if r.err != nil || len(r.data) == 0 {
		return false
	}
	number, form, n := protowire.ConsumeTag(r.data)
	if n < 0 {
		return r.stop(protowire.ParseError(n))
	}
	r.data, r.number, r.form = r.data[n:], number, form
	switch form {
	case protowire.BytesType:
		r.bytes, n = protowire.ConsumeBytes(r.data)
	case protowire.VarintType:
		r.word, n = protowire.ConsumeVarint(r.data)
	case protowire.Fixed64Type:
		r.word, n = protowire.ConsumeFixed64(r.data)
	default:
		n = protowire.ConsumeFieldValue(number, form, r.data)
	}
	if n < 0 {
		return r.stop(fmt.Errorf("field %d: %w", number, protowire.ParseError(n)))
	}
	r.data = r.data[n:]

	return true
}

// Field is the number of the field that Next has found.
func (r *Reader) Field() protowire.Number { return r.number }

// String returns the field's value.
func (r *Reader) String() string {
	if !r.expect(protowire.BytesType) {
		return ""
	}
	if !utf8.Valid(r.bytes) {
		r.fail(errNoText)

		return ""
	}

	return string(r.bytes)
}

// Bytes returns a copy of the field's value, never nil.
func (r *Reader) Bytes() []byte {
	if !r.expect(protowire.BytesType) {
		return nil
	}

	return append([]byte{}, r.bytes...)
}

// Bool returns the field's value.
func (r *Reader) Bool() bool {
	return r.expect(protowire.VarintType) && r.word != 0
}

// Int returns the field's value.
func (r *Reader) Int() int64 {
	if !r.expect(protowire.VarintType) {
		return 0
	}

	return int64(r.word) //nolint:gosec // Protobuf writes negative numbers as their two's complement.
}

// Float returns the field's value. JSON knows no infinite numbers, so they are refused.
func (r *Reader) Float() float64 {
	if !r.expect(protowire.Fixed64Type) {
		return 0
	}
	value := math.Float64frombits(r.word)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		r.fail(errNoJSON)

		return 0
	}

	return value
}

// Message adds the field's value to a message.
func (r *Reader) Message(into Message) {
	if !r.expect(protowire.BytesType) {
		return
	}
	number, rest := r.number, r.data
	r.data = r.bytes
	r.depth++
	into.ReadWire(r)
	r.depth--
	r.data = rest
	if r.err != nil {
		r.err = fmt.Errorf("field %d: %w", number, r.err)
	}
}

// Foreign adds the field's value to a message of Kubernetes.
func (r *Reader) Foreign(into Foreign) {
	if !r.expect(protowire.BytesType) {
		return
	}
	err := into.Unmarshal(r.bytes)
	if err == nil {
		err = sound(into, r.depth > 0)
	}
	if err != nil {
		r.fail(err)
	}
}

// Raw returns the JSON in the field's value. It rejects anything else: a stored object with invalid JSON could no longer be
// read in that form, nor could any list with it.
func (r *Reader) Raw() []byte {
	if !r.expect(protowire.BytesType) {
		return nil
	}
	number, rest := r.number, r.data
	r.data = r.bytes
	var raw []byte
	for r.Next() {
		if r.number == rawNumber {
			raw = r.Bytes()
		}
	}
	r.data, r.number = rest, number
	if len(raw) > 0 && !json.Valid(raw) {
		r.fail(errNoJSON)
	}

	return raw
}

// Made returns the value that a pointer points to, and allocates it if the pointer is nil.
func Made[T any](r *Reader, pointer **T) *T {
	if *pointer == nil {
		r.charge(reflect.TypeFor[T]().Size())
		*pointer = new(T)
	}

	return *pointer
}

// Grown adds an element to a list and returns it.
func Grown[T any](r *Reader, list *[]T) *T {
	r.charge(reflect.TypeFor[T]().Size())
	var empty T
	*list = append(*list, empty)

	return &(*list)[len(*list)-1]
}

// Entry adds an entry to a map; value reads the entry's value.
func Entry[M ~map[K]V, K ~string, V any](r *Reader, into *M, value func(*V)) {
	if !r.expect(protowire.BytesType) {
		return
	}
	rest := r.data
	r.data = r.bytes
	var (
		key    K
		stored V
	)
	for r.Next() {
		switch r.number {
		case 1:
			key = K(r.String())
		case 2:
			value(&stored)
		default:
		}
	}
	r.data = rest
	if *into == nil {
		*into = M{}
	}
	(*into)[key] = stored
}

// charge accounts for memory that the size of the input alone does not limit.
func (r *Reader) charge(size uintptr) {
	r.memory -= int(size)
	if r.memory < 0 {
		r.fail(errTooMuch)
	}
}

func (r *Reader) expect(form protowire.Type) bool {
	if r.err != nil {
		return false
	}
	if r.form != form {
		r.fail(fmt.Errorf("it has wire type %d instead of %d", r.form, form))

		return false
	}

	return true
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("field %d: %w", r.number, err)
	}
}

func (r *Reader) stop(err error) bool {
	r.err = err

	return false
}
