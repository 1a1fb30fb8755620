// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

const (
	// chunkBytes is the size in which a part is written.
	chunkBytes = 64 << 10
	// maxName bounds the name of a part when it is read.
	maxName = 1024
)

// partWriter writes parts of a size that is not known before: the name, chunks with their lengths, and an empty chunk.
type partWriter struct {
	to    *bufio.Writer
	parts []Part
}

func newPartWriter(to io.Writer) *partWriter {
	return &partWriter{to: bufio.NewWriterSize(to, chunkBytes)}
}

func (w *partWriter) number(n uint64) error {
	_, err := w.to.Write(binary.AppendUvarint(nil, n))

	return err
}

func (w *partWriter) chunk(p []byte) error {
	if err := w.number(uint64(len(p))); err != nil {
		return err
	}
	_, err := w.to.Write(p)

	return err
}

// part writes one part.
func (w *partWriter) part(name string, fill func(io.Writer) error) error {
	if err := w.chunk([]byte(name)); err != nil {
		return err
	}
	c := &chunkWriter{to: w, sum: sha256.New()}
	buffered := bufio.NewWriterSize(c, chunkBytes)
	if err := fill(buffered); err != nil {
		return fmt.Errorf("write part %q: %w", name, err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write part %q: %w", name, err)
	}
	w.parts = append(w.parts, Part{Name: name, Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil))})

	return w.number(0)
}

// close ends the list of parts.
func (w *partWriter) close() error {
	if err := w.number(0); err != nil {
		return err
	}

	return w.to.Flush()
}

type chunkWriter struct {
	to    *partWriter
	sum   hash.Hash
	bytes int64
}

// Write implements io.Writer.
func (c *chunkWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.sum.Write(p)
	c.bytes += int64(len(p))
	if err := c.to.chunk(p); err != nil {
		return 0, err
	}

	return len(p), nil
}

// partReader reads what a partWriter has written.
type partReader struct {
	from  *bufio.Reader
	now   *chunkReader
	parts []Part
}

func newPartReader(from io.Reader) *partReader {
	return &partReader{from: bufio.NewReaderSize(from, chunkBytes)}
}

// next returns the next part, and io.EOF after the last one. What was not read of the part before is skipped.
func (r *partReader) next() (name string, content io.Reader, err error) {
	if err := r.finish(); err != nil {
		return "", nil, err
	}
	size, err := binary.ReadUvarint(r.from)
	if err != nil {
		return "", nil, cut(err)
	}
	if size == 0 {
		return "", nil, io.EOF
	}
	if size > maxName {
		return "", nil, fmt.Errorf("%w: a part has a name of %d bytes", ErrDamaged, size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r.from, text); err != nil {
		return "", nil, cut(err)
	}
	r.now = &chunkReader{from: r.from, sum: sha256.New()}
	r.parts = append(r.parts, Part{Name: string(text)})

	return string(text), r.now, nil
}

// finish reads the part before to its end, and notes what it was.
func (r *partReader) finish() error {
	if r.now == nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, r.now); err != nil {
		return err
	}
	last := &r.parts[len(r.parts)-1]
	last.Bytes, last.SHA256 = r.now.bytes, hex.EncodeToString(r.now.sum.Sum(nil))
	r.now = nil

	return nil
}

type chunkReader struct {
	from  *bufio.Reader
	left  uint64
	ended bool
	sum   hash.Hash
	bytes int64
}

// Read implements io.Reader.
func (c *chunkReader) Read(p []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	if c.left == 0 {
		size, err := binary.ReadUvarint(c.from)
		if err != nil {
			return 0, cut(err)
		}
		if c.left = size; size == 0 {
			c.ended = true

			return 0, io.EOF
		}
	}
	n, err := c.from.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n) //nolint:gosec // It is not negative.
	c.sum.Write(p[:n])
	c.bytes += int64(n)

	return n, cut(err)
}

// cut says of a file that ends too early that it is damaged.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", ErrDamaged)
	}

	return err
}
