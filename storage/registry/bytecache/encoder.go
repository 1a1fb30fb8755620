// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// bufferSize is what is handed on at once: two records of TLS.
	bufferSize = 32 << 10

	// opening and continued frame the kind of an object in its JSON; closing is how the JSON of an empty list ends.
	opening   = `{"kind":`
	continued = `,"metadata":`
	closing   = "]}\n"
)

// encoder writes JSON without spaces in the way of another encoder.
type encoder struct {
	runtime.Encoder

	cache *Cache
}

var _ runtime.EncoderWithAllocator = encoder{}

// Encoder returns an encoder that writes what plain does, byte by byte, but remembers it. Plain writes JSON without spaces
// for clients. Lists that it is given consist of objects as they are stored; of other objects it believes so only when
// they are an Object.
func (c *Cache) Encoder(plain runtime.Encoder) runtime.Encoder {
	return encoder{Encoder: plain, cache: c}
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
	written, ok, err := e.text(object)
	if err != nil {
		return err
	}
	if !ok {
		return e.Encoder.Encode(object, w)
	}
	_, err = w.Write(written.whole)

	return err
}

// text returns how an object is written. It is not ok where the object is written in a form that has no known parts.
func (e encoder) text(object Plain) (written text, ok bool, err error) {
	if written, ok = e.cache.get(object, e.Identifier()); ok {
		return written, true, nil
	}
	var buffer bytes.Buffer
	if err := e.Encoder.Encode(object, &buffer); err != nil {
		return text{}, false, err
	}
	whole := bytes.Clone(buffer.Bytes())
	at := bytes.Index(whole, []byte(continued))
	if at < 0 || !bytes.HasPrefix(whole, []byte(opening)) || !bytes.HasSuffix(whole, []byte("}\n")) {
		return text{}, false, nil
	}
	written = text{whole: whole, rest: at + 1}
	e.cache.put(object, e.Identifier(), written)

	return written, true, nil
}

// list writes the frame of a list around its objects.
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
	head, found := bytes.CutSuffix(frame.Bytes(), []byte(closing))
	if !found {
		return e.Encoder.Encode(object, w)
	}

	// A write error sticks to the buffer; Flush returns it.
	out := bufio.NewWriterSize(w, bufferSize)
	_, _ = out.Write(head)
	for i, part := range parts {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('{')
		_, _ = out.Write(part)
	}
	_, _ = out.WriteString(closing)

	return out.Flush()
}

// parts returns how the objects of a list are written, without the bracket before. It is not ok for lists of anything
// that is not stored.
func (e encoder) parts(object runtime.Object) ([][]byte, bool, error) {
	known := true
	parts := make([][]byte, 0, meta.LenList(object))
	err := meta.EachListItem(object, func(item runtime.Object) error {
		one, ok := item.(Plain)
		if !ok || !known || one.GetUID() == "" {
			known = false

			return nil
		}
		written, ok, err := e.text(one)
		if err != nil {
			return err
		}
		if !ok {
			known = false

			return nil
		}
		part, fits := written.part(item.GetObjectKind().GroupVersionKind())
		known = fits
		parts = append(parts, part)

		return nil
	})

	return parts, known && len(parts) > 0, err
}

// part is the text of an object as one of a list, which does not tell its kind where the object does not. It does not fit
// where the object tells another one.
func (t text) part(kind schema.GroupVersionKind) (part []byte, fits bool) {
	whole := bytes.TrimSuffix(t.whole, []byte("\n"))
	if kind.Empty() {
		return whole[t.rest:], true
	}
	version, name := kind.ToAPIVersionAndKind()

	return whole[1:], bytes.Equal(t.whole[:t.rest], fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, name, version))
}

// hollow is a list without its items.
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
