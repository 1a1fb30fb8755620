// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"container/list"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Cache remembers how objects are written. It may be used by many at once.
type Cache struct {
	mutex   sync.Mutex
	limit   int
	size    int
	entries map[types.UID]*list.Element
	// recent holds the entries, the last used first.
	recent list.List
}

// entry is one object, written by one encoder.
type entry struct {
	uid     types.UID
	version string
	encoder runtime.Identifier
	text    text
}

// text is a JSON object: {"kind":…,"apiVersion":…, and from rest on what an object among others in a list consists of.
type text struct {
	whole []byte
	rest  int
}

// overhead is what an entry takes beside its text.
const overhead = 256

// New returns a Cache that takes about limit bytes.
func New(limit int) *Cache {
	return &Cache{limit: limit, entries: map[types.UID]*list.Element{}}
}

// get returns how an encoder has written an object.
func (c *Cache) get(object metav1.Object, encoder runtime.Identifier) (text, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	element, found := c.entries[object.GetUID()]
	if !found {
		return text{}, false
	}
	known, ok := element.Value.(*entry)
	if !ok || known.version != object.GetResourceVersion() || known.encoder != encoder {
		return text{}, false
	}
	c.recent.MoveToFront(element)

	return known.text, true
}

// put remembers how an encoder has written an object, in place of an earlier version of it.
func (c *Cache) put(object metav1.Object, encoder runtime.Identifier, written text) {
	if object.GetUID() == "" || object.GetResourceVersion() == "" || overhead+len(written.whole) > c.limit {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if element, found := c.entries[object.GetUID()]; found {
		c.drop(element)
	}
	fresh := &entry{uid: object.GetUID(), version: object.GetResourceVersion(), encoder: encoder, text: written}
	c.entries[fresh.uid] = c.recent.PushFront(fresh)
	c.size += overhead + len(written.whole)
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(element *list.Element) {
	if old, ok := c.recent.Remove(element).(*entry); ok {
		delete(c.entries, old.uid)
		c.size -= overhead + len(old.text.whole)
	}
}
