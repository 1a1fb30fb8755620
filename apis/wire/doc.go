// SPDX-License-Identifier: Apache-2.0

// Package wire encodes and decodes the protobuf form of the garden's kinds. Generated code says which fields a message has;
// this package has the code that is common to all messages.
//
// A Reader can be used on untrusted input. It never panics, allocates no more memory than a fixed multiple of the input, and
// ignores unknown fields.
package wire

// Message is a type with generated code.
type Message interface {
	// WriteWire writes the fields of the message, the last one first.
	WriteWire(w *Writer)
	// ReadWire adds the fields in r to the message.
	ReadWire(r *Reader)
}

// Foreign is a message of Kubernetes, with its own generated code.
type Foreign interface {
	// Size is the number of bytes that the message takes.
	Size() int
	// MarshalToSizedBuffer writes the message to the end of a buffer and returns how many bytes that are.
	MarshalToSizedBuffer(buffer []byte) (int, error)
	// Unmarshal adds the fields in the bytes to the message.
	Unmarshal(data []byte) error
}
