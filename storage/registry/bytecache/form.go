// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// written is how an object is written, and where in it is what the object consists of as one of a list.
type written struct {
	whole    []byte
	from, to int
}

// form is an encoding in which lists can be put together from objects.
type form interface {
	// split finds the parts of an object on its own. It is not ok for one that looks in another way.
	split(whole []byte) (w written, ok bool)
	// part is an object as one of a list, where it tells the given kind or none. It does not fit where the object tells
	// another one.
	part(w written, kind schema.GroupVersionKind) (part []byte, fits bool)
	// frame cuts a list without objects into what comes before parts and after them. It is not ok for a list that looks
	// in another way.
	frame(list []byte, parts [][]byte) (before, after []byte, ok bool)
	// between is what comes before a part.
	between(first bool, part []byte) []byte
}

// The parts of JSON: opening and continued frame the kind of an object, and closing is how an empty list ends.
const (
	opening   = `{"kind":`
	continued = `,"metadata":`
	closing   = "]}\n"
)

// text is JSON without spaces: {"kind":…,"apiVersion":…,"metadata":…}.
type text struct{}

func (text) split(whole []byte) (written, bool) {
	at := bytes.Index(whole, []byte(continued))
	if at < 0 || !bytes.HasPrefix(whole, []byte(opening)) || !bytes.HasSuffix(whole, []byte("}\n")) {
		return written{}, false
	}

	return written{whole: whole, from: at + 1, to: len(whole) - 1}, true
}

func (text) part(w written, kind schema.GroupVersionKind) ([]byte, bool) {
	if kind.Empty() {
		return w.whole[w.from:w.to], true
	}
	version, name := kind.ToAPIVersionAndKind()

	return w.whole[1:w.to], bytes.Equal(w.whole[:w.from], fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, name, version))
}

func (text) frame(list []byte, _ [][]byte) (before, after []byte, ok bool) {
	before, ok = bytes.CutSuffix(list, []byte(closing))

	return before, []byte(closing), ok
}

func (text) between(first bool, _ []byte) []byte {
	if first {
		return []byte("{")
	}

	return []byte(",{")
}

// The parts of protobuf: four bytes that say what it is, and a message with the kind and the object's own message.
const (
	magic = "k8s\x00"
	// rawNumber is the field with the object's message, and itemsNumber that of the message of a list with its objects.
	rawNumber, itemsNumber protowire.Number = 2, 2
)

// binary is protobuf in the envelope of Kubernetes. An object's own message does not tell its kind.
type binary struct{}

func (binary) split(whole []byte) (written, bool) {
	if !bytes.HasPrefix(whole, []byte(magic)) {
		return written{}, false
	}
	for at := len(magic); at < len(whole); {
		number, form, n := protowire.ConsumeTag(whole[at:])
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(number, form, whole[at+n:])
		if size < 0 {
			break
		}
		if number == rawNumber && form == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(whole[at+n:])
			end := at + n + size

			return written{whole: whole, from: end - len(value), to: end}, true
		}
		at += n + size
	}

	return written{}, false
}

func (binary) part(w written, _ schema.GroupVersionKind) ([]byte, bool) {
	return w.whole[w.from:w.to], true
}

func (b binary) frame(list []byte, parts [][]byte) (before, after []byte, ok bool) {
	w, ok := b.split(list)
	if !ok {
		return nil, nil, false
	}
	size := w.to - w.from
	for _, part := range parts {
		size += protowire.SizeTag(itemsNumber) + protowire.SizeBytes(len(part))
	}
	// The length of the list's message stands between its tag and itself.
	at := w.from - protowire.SizeVarint(uint64(w.to-w.from)) //nolint:gosec // A length is never negative.
	before = append(before, list[:at]...)
	before = protowire.AppendVarint(before, uint64(size)) //nolint:gosec // A length is never negative.
	before = append(before, list[w.from:w.to]...)

	return before, list[w.to:], true
}

func (binary) between(_ bool, part []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, itemsNumber, protowire.BytesType), uint64(len(part)))
}
