// SPDX-License-Identifier: Apache-2.0

package bytecache

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// written is the encoded form of an object, with the position of the part that is used in a list.
type written struct {
	whole    []byte
	from, to int
}

// form is an encoding in which a list can be assembled from encoded objects.
type form interface {
	// split finds the parts of an encoded object. It is not ok for an unexpected form.
	split(whole []byte) (w written, ok bool)
	// part returns an object as an item of a list, in which it has the given kind or none. It is not ok if the object has
	// another kind.
	part(w written, kind schema.GroupVersionKind) (part []byte, fits bool)
	// frame splits an encoded list without items into the bytes before and after the items. It is not ok for an unexpected
	// form.
	frame(list []byte, parts [][]byte) (before, after []byte, ok bool)
	// between returns the bytes before an item.
	between(first bool, part []byte) []byte
}

// The parts of JSON: opening and continued enclose the kind of an object, and closing is the end of an empty list.
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

// The parts of protobuf: a magic number of four bytes, and a message with the kind and the object's own message.
const (
	magic = "k8s\x00"
	// rawNumber is the field with the object's message, and itemsNumber that of the message of a list with its objects.
	rawNumber, itemsNumber protowire.Number = 2, 2
)

// binary is protobuf in the envelope of Kubernetes. An object's own message does not contain its kind.
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
	// The length of the list's message is between its tag and the message.
	at := w.from - protowire.SizeVarint(uint64(w.to-w.from)) //nolint:gosec // A length is never negative.
	before = append(before, list[:at]...)
	before = protowire.AppendVarint(before, uint64(size)) //nolint:gosec // A length is never negative.
	before = append(before, list[w.from:w.to]...)

	return before, list[w.to:], true
}

func (binary) between(_ bool, part []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, itemsNumber, protowire.BytesType), uint64(len(part)))
}
