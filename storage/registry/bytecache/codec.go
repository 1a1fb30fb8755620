// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// codec caches recently decoded objects.
type codec struct {
	runtime.Codec

	seed   maphash.Seed
	fields fields
	mutex  sync.Mutex
	limit  int
	size   int
	known  map[uint64]*decoded
	// order has the keys of known, the oldest first.
	order []uint64
}

// decoded is an immutable object with the bytes it was decoded from.
type decoded struct {
	raw    []byte
	object runtime.Object
	kind   *schema.GroupVersionKind
}

// Codec returns a codec for a store that copies objects which it has decoded from the same bytes instead of decoding them
// again: a written object is decoded for the response, again for the watch event, and once more when the next write replaces
// it. It keeps the latest objects, up to limit bytes. The bytes passed to it must not be changed afterwards.
func Codec(plain runtime.Codec, limit int) runtime.Codec {
	return &codec{Codec: plain, seed: maphash.MakeSeed(), limit: limit, known: map[uint64]*decoded{}, fields: fields{known: map[string][]byte{}}}
}

// Decode implements runtime.Decoder.
func (c *codec) Decode(
	raw []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	// Decoding adds to the fields that an object has already.
	if defaults != nil || into != nil && !reflect.ValueOf(into).Elem().IsZero() {
		return c.Codec.Decode(raw, defaults, into)
	}
	sum := maphash.Bytes(c.seed, raw)
	if found := c.find(sum, raw); found != nil {
		if object, ok := found.copyInto(into); ok {
			c.fields.share(object)

			return object, new(*found.kind), nil
		}
	}
	object, kind, err := c.Codec.Decode(raw, nil, into)
	if err == nil && kind != nil {
		kept := object.DeepCopyObject()
		c.fields.share(kept)
		c.fields.share(object)
		c.keep(sum, &decoded{raw: raw, object: kept, kind: new(*kind)})
	}

	return object, kind, err
}

func (c *codec) find(sum uint64, raw []byte) *decoded {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found := c.known[sum]; found != nil && bytes.Equal(found.raw, raw) {
		return found
	}

	return nil
}

// keep caches an object and evicts the oldest ones if the limit is exceeded.
func (c *codec) keep(sum uint64, object *decoded) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, taken := c.known[sum]; taken || len(object.raw) > c.limit {
		return
	}
	c.known[sum] = object
	c.order = append(c.order, sum)
	c.size += len(object.raw)
	for c.size > c.limit {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.size -= len(c.known[oldest].raw)
		delete(c.known, oldest)
	}
}

// copyInto copies the object into an empty object of its type, or into a new one if into is nil. As with the plain codec,
// only the former has its kind set.
func (d *decoded) copyInto(into runtime.Object) (runtime.Object, bool) {
	if into == nil {
		object := d.object.DeepCopyObject()
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})

		return object, true
	}
	target, source := reflect.ValueOf(into), reflect.ValueOf(d.object)
	if target.Type() != source.Type() {
		return nil, false
	}
	target.Elem().Set(reflect.ValueOf(d.object.DeepCopyObject()).Elem())
	into.GetObjectKind().SetGroupVersionKind(*d.kind)

	return into, true
}
