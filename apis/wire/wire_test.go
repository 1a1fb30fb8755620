// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/wire"
)

// message is what a generator could have written.
type message struct {
	name   string
	parts  []message
	counts map[string]string
	raw    runtime.RawExtension
	meta   metav1.ObjectMeta
	// grows is called with each write.
	grows func(m *message)
}

func (m *message) WriteWire(w *wire.Writer) {
	if m.grows != nil {
		m.grows(m)
	}
	w.ForeignPart(5, &m.meta)
	if m.raw.Raw != nil || m.raw.Object != nil {
		w.Extension(4, &m.raw)
	}
	for _, key := range wire.Keys(m.counts) {
		value, end := m.counts[key], w.End()
		w.String(2, value)
		w.String(1, key)
		w.Close(3, end)
	}
	for i := len(m.parts) - 1; i >= 0; i-- {
		w.Message(2, &m.parts[i])
	}
	if m.name != "" {
		w.String(1, m.name)
	}
}

func (m *message) ReadWire(r *wire.Reader) {
	for r.Next() {
		switch r.Field() {
		case 1:
			m.name = r.String()
		case 2:
			r.Message(wire.Grown(r, &m.parts))
		case 3:
			wire.Entry(r, &m.counts, func(value *string) { *value = r.String() })
		case 4:
			m.raw.Raw = r.Raw()
		case 5:
			r.Foreign(&m.meta)
		default:
		}
	}
}

func TestEqualObjectsAreEqualBytes(t *testing.T) {
	t.Parallel()
	made := func() *message {
		return &message{name: "a", counts: map[string]string{"x": "1", "y": "2", "z": "3", "": "0"}, parts: []message{{name: "b"}, {}}}
	}
	want, err := wire.Marshal(made())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got, err := wire.Marshal(made())
		if err != nil || !cmp.Equal(want, got) {
			t.Fatalf("A store tells by the bytes whether anything has changed: got %q, %v, want %q", got, err, want)
		}
	}
	read := &message{}
	if err := wire.Unmarshal(read, want); err != nil || len(read.parts) != 2 || len(read.counts) != 4 {
		t.Errorf("Empty elements are kept: got %+v, %v", read, err)
	}
}

func TestObjectsInObjects(t *testing.T) {
	t.Parallel()
	data, err := wire.Marshal(&message{raw: runtime.RawExtension{Object: &metav1.Status{Message: "typed"}}})
	if err != nil {
		t.Fatal(err)
	}
	read := &message{}
	if err := wire.Unmarshal(read, data); err != nil || !strings.Contains(string(read.raw.Raw), `"message":"typed"`) {
		t.Errorf("An object that was put there as one is written as JSON: got %s, %v", read.raw.Raw, err)
	}
}

// TestChangeWhileWriting has a message that grows between being measured and being written, as one does that somebody
// changes without a lock.
func TestChangeWhileWriting(t *testing.T) {
	t.Parallel()
	for name, grows := range map[string]func(m *message){
		"own field":     func(m *message) { m.name += "longer and longer" },
		"foreign field": func(m *message) { m.meta.Name += "longer and longer" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := wire.Marshal(&message{name: "a", grows: grows})
			if err == nil || !strings.Contains(err.Error(), "changed while it was written") {
				t.Errorf("Marshal() = %q, %v, want an error and no panic", data, err)
			}
		})
	}
}

func TestShortBuffer(t *testing.T) {
	t.Parallel()
	if n, err := wire.MarshalTo(&message{name: "long enough"}, make([]byte, 3)); err == nil {
		t.Errorf("MarshalTo() = %d, want an error", n)
	}
	if err := wire.Unmarshal(&message{}, nil); err != nil {
		t.Errorf("No bytes are an empty message.\nUnmarshal(): %v", err)
	}
}
