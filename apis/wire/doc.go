// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes the protobuf form of the garden's kinds. Generated code says which fields a message has;
// what is common to all messages is here.
//
// A reader may be given bytes of anybody. It never panics, takes no more memory than a fixed multiple of what it is
// given, and ignores fields that it does not know.
package wire

// Message is what generated code makes of a type.
type Message interface {
	// WriteWire writes the fields of the message, the last one first.
	WriteWire(w *Writer)
	// ReadWire adds the fields that r holds to the message.
	ReadWire(r *Reader)
}

// Foreign is a message of Kubernetes, with code of its own.
type Foreign interface {
	// Size is the number of bytes that the message takes.
	Size() int
	// MarshalToSizedBuffer writes the message to the end of a buffer and returns how many bytes that are.
	MarshalToSizedBuffer(buffer []byte) (int, error)
	// Unmarshal adds what the bytes hold to the message.
	Unmarshal(data []byte) error
}
