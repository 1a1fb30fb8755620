// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"bufio"
	"bytes"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// bufferSize is how much is passed on at once: two TLS records.
const bufferSize = 32 << 10

// encoder caches the output of another encoder.
type encoder struct {
	runtime.Encoder

	form  form
	cache *Cache
}

var _ runtime.EncoderWithAllocator = encoder{}

// JSON returns an encoder with the same output as plain, byte by byte, that caches it. Plain writes JSON without spaces for
// clients. All items of lists passed to the encoder must be exactly as stored; a single object is cached only if it is an
// Object.
func (c *Cache) JSON(plain runtime.Encoder) runtime.Encoder {
	return encoder{Encoder: plain, form: text{}, cache: c}
}

// Protobuf is like JSON for a plain encoder that writes protobuf.
func (c *Cache) Protobuf(plain runtime.Encoder) runtime.Encoder {
	return encoder{Encoder: plain, form: binary{}, cache: c}
}

// EncodeWithAllocator implements runtime.EncoderWithAllocator.
func (e encoder) EncodeWithAllocator(object runtime.Object, w io.Writer, memory runtime.MemoryAllocator) error {
	switch object.(type) {
	case Object, runtime.CacheableObject:
		return e.Encode(object, w)
	}
	if allocating, ok := e.Encoder.(runtime.EncoderWithAllocator); ok {
		return allocating.EncodeWithAllocator(object, w, memory)
	}

	return e.Encode(object, w)
}

// Encode implements runtime.Encoder.
func (e encoder) Encode(object runtime.Object, w io.Writer) error {
	if stored, ok := object.(Object); ok {
		return e.one(stored.Plain, w)
	}
	if meta.IsListType(object) {
		return e.list(object, w)
	}

	return e.Encoder.Encode(object, w)
}

func (e encoder) one(object Plain, w io.Writer) error {
	found, ok, err := e.written(object)
	if err != nil {
		return err
	}
	if !ok {
		return e.Encoder.Encode(object, w)
	}
	_, err = w.Write(found.whole)

	return err
}

// written returns the encoded form of an object. It is not ok if the parts of the form cannot be found.
func (e encoder) written(object Plain) (found written, ok bool, err error) {
	if found, ok = e.cache.get(object, e.Identifier()); ok {
		return found, true, nil
	}
	var buffer bytes.Buffer
	if err := e.Encoder.Encode(object, &buffer); err != nil {
		return written{}, false, err
	}
	if found, ok = e.form.split(bytes.Clone(buffer.Bytes())); ok {
		e.cache.put(object, e.Identifier(), found)
	}

	return found, ok, nil
}

// list writes a list: its frame around its objects.
func (e encoder) list(object runtime.Object, w io.Writer) error {
	parts, ok, err := e.parts(object)
	if err != nil {
		return err
	}
	if !ok {
		return e.Encoder.Encode(object, w)
	}
	var frame bytes.Buffer
	if err := e.Encoder.Encode(hollow(object), &frame); err != nil {
		return err
	}
	before, after, ok := e.form.frame(frame.Bytes(), parts)
	if !ok {
		return e.Encoder.Encode(object, w)
	}

	// A write error sticks to the buffer; Flush returns it.
	out := bufio.NewWriterSize(w, bufferSize)
	_, _ = out.Write(before)
	for i, part := range parts {
		_, _ = out.Write(e.form.between(i == 0, part))
		_, _ = out.Write(part)
	}
	_, _ = out.Write(after)

	return out.Flush()
}

// parts returns the encoded forms of the objects of a list. It is not ok for lists of objects that are not stored.
func (e encoder) parts(object runtime.Object) ([][]byte, bool, error) {
	known := true
	parts := make([][]byte, 0, meta.LenList(object))
	err := meta.EachListItem(object, func(item runtime.Object) error {
		one, ok := item.(Plain)
		if !ok || !known || one.GetUID() == "" {
			known = false

			return nil
		}
		found, ok, err := e.written(one)
		if err != nil {
			return err
		}
		if !ok {
			known = false

			return nil
		}
		part, fits := e.form.part(found, item.GetObjectKind().GroupVersionKind())
		known = fits
		parts = append(parts, part)

		return nil
	})

	return parts, known && len(parts) > 0, err
}

// hollow returns a list without its items.
func hollow(object runtime.Object) runtime.Object {
	value := reflect.ValueOf(object).Elem()
	empty := reflect.New(value.Type())
	empty.Elem().Set(value)
	items := empty.Elem().FieldByName("Items")
	items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	list, ok := reflect.TypeAssert[runtime.Object](empty)
	if !ok {
		return object
	}

	return list
}
