// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

const (
	// whiteout is what names begin with that say that a file of lower layers is gone, opaque the name that says it of a whole folder.
	whiteout = ".wh."
	opaque   = whiteout + whiteout + ".opq"
)

// entry is something in a layer.
type entry struct {
	kind byte
	// link is where it leads to.
	link string
	size int64
	// number is its place in the layer. A name can be there several times, and the last one counts.
	number int
}

func (e entry) regular() bool { return e.kind == tar.TypeReg || e.kind == tar.TypeGNUSparse }

// layer is what is in a layer, by paths in the image.
type layer struct {
	entries map[string]entry
	// gone are the paths that lower layers do not have any more, emptied the folders of which lower layers have nothing more.
	gone, emptied map[string]bool
}

// hides reports whether a path of lower layers is not in the image any more.
func (l *layer) hides(p string) bool {
	if l.gone[p] {
		return true
	}
	for p != "/" {
		p = path.Dir(p)
		if above, is := l.entries[p]; l.gone[p] || l.emptied[p] || is && above.kind != tar.TypeDir {
			return true
		}
	}
	return false
}

// add notes one name. Those that lead out of the image are names in its root, as they would be for a container.
func (l *layer) add(number int, header *tar.Header) {
	p := path.Clean("/" + header.Name)
	dir, base := path.Split(p)
	switch dir = path.Clean(dir); {
	case base == opaque:
		l.emptied[dir] = true
	case strings.HasPrefix(base, whiteout+whiteout): // Of a file system that keeps its own notes like this.
	case strings.HasPrefix(base, whiteout):
		l.gone[path.Join(dir, strings.TrimPrefix(base, whiteout))] = true
	default:
		l.entries[p] = entry{kind: header.Typeflag, link: header.Linkname, size: header.Size, number: number}
	}
}

// scan reads the names of a layer.
func scan(ctx context.Context, content io.Reader, names *int) (*layer, error) {
	l := &layer{entries: map[string]entry{}, gone: map[string]bool{}, emptied: map[string]bool{}}
	reader := tar.NewReader(content)
	for number := 0; ; number++ {
		header, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return l, nil
		case err != nil:
			return nil, unreadable(err)
		case ctx.Err() != nil:
			return nil, ctx.Err() //nolint:wrapcheck // It is the caller's own.
		}
		if *names -= len(header.Name) + len(header.Linkname) + nameCost; *names < 0 {
			return nil, problem("it has too many files")
		}
		l.add(number, header)
	}
}

// nameCost is what a name costs beside its length.
const nameCost = 64

// seek returns the content of the entry with a number.
func seek(ctx context.Context, content io.Reader, number int) (io.Reader, error) {
	reader := tar.NewReader(content)
	for range number + 1 {
		if _, err := reader.Next(); err != nil {
			return nil, unreadable(err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() //nolint:wrapcheck // It is the caller's own.
		}
	}
	return reader, nil
}

// unpacked returns the content of a layer, whatever its type says about how it is packed.
func unpacked(packed io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(packed)
	magic, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err //nolint:wrapcheck // The caller says what it is about.
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		reader, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, unreadable(err)
		}
		return reader, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		reader, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, unreadable(err)
		}
		return reader.IOReadCloser(), nil
	default:
		return io.NopCloser(buffered), nil
	}
}

// unreadable is an error of what reads a layer. It can have names of the image.
func unreadable(err error) error {
	if _, is := errors.AsType[*registry.PullError](err); is {
		return err
	}
	return problem("one of its layers cannot be read")
}
