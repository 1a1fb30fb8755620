// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// spliced is an encoder that leaves no memory behind. The library keeps two buffers and an allocator for each watch, as large as its
// largest event was and for as long as the watch lasts. For watches of gardenlets these were 28 KiB each.
type spliced struct {
	// Encoder also implements runtime.EncoderWithAllocator, which spliced does not, so that no watch gets an allocator of its own.
	runtime.Encoder
}

// Encode implements runtime.Encoder.
func (s spliced) Encode(object runtime.Object, w io.Writer) error {
	into, ok := w.(runtime.Splice)
	if !ok {
		return s.encode(object, w)
	}
	buffer := bytes.Buffer{}
	if err := s.encode(object, &buffer); err != nil {
		return err
	}
	into.Splice(buffer.Bytes())

	return nil
}

func (s spliced) encode(object runtime.Object, w io.Writer) error {
	allocating, ok := s.Encoder.(runtime.EncoderWithAllocator)
	if !ok {
		return s.Encoder.Encode(object, w) //nolint:wrapcheck // The caller is the library.
	}
	memory, ok := runtime.AllocatorPool.Get().(*runtime.Allocator)
	if !ok {
		return s.Encoder.Encode(object, w) //nolint:wrapcheck // The caller is the library.
	}
	defer runtime.AllocatorPool.Put(memory)

	return allocating.EncodeWithAllocator(object, w, memory) //nolint:wrapcheck // The caller is the library.
}
