// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"container/list"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Cache caches the encoded forms of objects. It is safe for concurrent use.
type Cache struct {
	mutex   sync.Mutex
	limit   int
	size    int
	entries map[key]*list.Element
	// recent is the list of entries, the most recently used first.
	recent list.List
}

// key identifies an object and its encoder: some clients read JSON and others protobuf.
type key struct {
	uid     types.UID
	encoder runtime.Identifier
}

// entry is one object encoded by one encoder.
type entry struct {
	key

	version string
	written written
}

// overhead is the memory of an entry in addition to its bytes.
const overhead = 256

// New returns a Cache of about limit bytes.
func New(limit int) *Cache {
	return &Cache{limit: limit, entries: map[key]*list.Element{}}
}

// get returns the form in which an encoder has encoded an object.
func (c *Cache) get(object metav1.Object, encoder runtime.Identifier) (written, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	element, found := c.entries[key{uid: object.GetUID(), encoder: encoder}]
	if !found {
		return written{}, false
	}
	known, ok := element.Value.(*entry)
	if !ok || known.version != object.GetResourceVersion() {
		return written{}, false
	}
	c.recent.MoveToFront(element)

	return known.written, true
}

// put caches the form in which an encoder has encoded an object; it replaces that of an earlier version.
func (c *Cache) put(object metav1.Object, encoder runtime.Identifier, found written) {
	if object.GetUID() == "" || object.GetResourceVersion() == "" || overhead+len(found.whole) > c.limit {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fresh := &entry{key: key{uid: object.GetUID(), encoder: encoder}, version: object.GetResourceVersion(), written: found}
	if element, known := c.entries[fresh.key]; known {
		c.drop(element)
	}
	c.entries[fresh.key] = c.recent.PushFront(fresh)
	c.size += overhead + len(found.whole)
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(element *list.Element) {
	if old, ok := c.recent.Remove(element).(*entry); ok {
		delete(c.entries, old.key)
		c.size -= overhead + len(old.written.whole)
	}
}
