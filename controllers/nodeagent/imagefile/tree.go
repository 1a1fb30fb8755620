// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// tree is what the layers of an image are together. A layer is looked at when it has to be, from the uppermost one down.
type tree struct {
	from   source
	image  name.Reference
	folder string
	// layers are those of the image, the lowest one first; seen are those that were looked at.
	layers []v1.Descriptor
	seen   map[int]*layer
	limits Limits
}

// open returns the content of the file that a path leads to.
func (t *tree) open(ctx context.Context, platform v1.Platform, p string) (io.ReadCloser, error) {
	var err error
	if t.layers, err = layersOf(ctx, t.from, t.image, platform); err != nil {
		return nil, err
	}
	at, found, err := t.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	return t.content(ctx, at, found)
}

// layer returns what is in a layer.
func (t *tree) layer(ctx context.Context, number int) (*layer, error) {
	if found := t.seen[number]; found != nil {
		return found, nil
	}
	content, err := t.read(ctx, number)
	if err != nil {
		return nil, err
	}
	found, err := scan(ctx, content, &t.limits.Names)
	if err = errors.Join(err, content.Close()); err != nil {
		return nil, err
	}
	if t.seen == nil {
		t.seen = map[int]*layer{}
	}
	t.seen[number] = found
	return found, nil
}

// find looks for a path in a layer and those below it.
func (t *tree) find(ctx context.Context, p string, top int) (int, entry, error) {
	for number := top; number >= 0; number-- {
		l, err := t.layer(ctx, number)
		if err != nil {
			return 0, entry{}, err
		}
		if found, is := l.entries[p]; is {
			return number, found, nil
		}
		if l.hides(p) {
			break
		}
	}
	return 0, entry{}, fs.ErrNotExist
}

// resolve returns the regular file that a path leads to, and its layer.
func (t *tree) resolve(ctx context.Context, p string) (int, entry, error) {
	top := len(t.layers) - 1
	for range maxLinks {
		number, found, err := t.find(ctx, p, top)
		if errors.Is(err, fs.ErrNotExist) {
			if p, err = t.through(ctx, p); errors.Is(err, fs.ErrNotExist) {
				return 0, entry{}, problem("the image has no such file")
			}
			top = len(t.layers) - 1
			if err != nil {
				return 0, entry{}, err
			}
			continue
		}
		switch {
		case err != nil:
			return 0, entry{}, err
		case found.regular():
			return number, found, nil
		case found.kind == tar.TypeLink: // It is to a file that was there when its layer came.
			p, top = path.Clean("/"+found.link), number
		case found.kind == tar.TypeSymlink:
			if p, err = target(p, found.link); err != nil {
				return 0, entry{}, err
			}
			top = len(t.layers) - 1
		default:
			return 0, entry{}, problem("this is no regular file in the image")
		}
	}
	return 0, entry{}, problem("more than %d links in the image lead to it", maxLinks)
}

// through returns where a path leads to by the first folder on its way that is a link.
func (t *tree) through(ctx context.Context, p string) (string, error) {
	for at := 1; at < len(p); at++ {
		if p[at] != '/' {
			continue
		}
		_, found, err := t.find(ctx, p[:at], len(t.layers)-1)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && found.kind == tar.TypeDir:
			continue
		case err != nil:
			return "", err
		case found.kind != tar.TypeSymlink:
			return "", fs.ErrNotExist
		}
		to, err := target(p[:at], found.link)
		return path.Join(to, p[at:]), err
	}
	return "", fs.ErrNotExist
}

// target is where a symbolic link leads to, never out of the image. One that goes down and up again is refused: where that leads to depends on
// the links on its way.
func target(p, link string) (string, error) {
	down := false
	for part := range strings.SplitSeq(link, "/") {
		if part == ".." && down {
			return "", problem("a link in the image goes down and up again")
		}
		down = down || part != ".." && part != "." && part != ""
	}
	if path.IsAbs(link) {
		return path.Clean(link), nil
	}
	return path.Join(path.Dir(p), link), nil
}

// content returns that of a file.
func (t *tree) content(ctx context.Context, number int, found entry) (io.ReadCloser, error) {
	if found.size > t.limits.File {
		return nil, problem("the file is larger than %d MiB", t.limits.File/mebi)
	}
	layer, err := t.read(ctx, number)
	if err != nil {
		return nil, err
	}
	file, err := seek(ctx, layer, found.number)
	if err != nil {
		return nil, errors.Join(err, layer.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{file, layer}, nil
}

// read returns the unpacked content of a layer, which is in the folder then.
func (t *tree) read(ctx context.Context, number int) (io.ReadCloser, error) {
	packed, err := t.packed(ctx, t.layers[number])
	if err != nil {
		return nil, err
	}
	content, err := unpacked(packed)
	if err != nil {
		return nil, errors.Join(err, packed.Close())
	}
	limited := &bounded{inner: content, left: &t.limits.Unpacked, err: problem("it is too large when it is unpacked")}
	return struct {
		io.Reader
		io.Closer
	}{limited, both{content, packed}}, nil
}

type both [2]io.Closer

// Close implements io.Closer.
func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }

// packed returns a layer as it is in the folder. Layers of different repositories are kept apart: what somebody may read in one does not show
// what is in another.
func (t *tree) packed(ctx context.Context, layer v1.Descriptor) (*os.File, error) {
	sum := sha256.Sum256([]byte(t.image.Context().Name() + "@" + layer.Digest.String()))
	place := filepath.Join(t.folder, hex.EncodeToString(sum[:]))
	if file, err := os.Open(place); err == nil { //nolint:gosec // The name is a digest.
		return file, nil
	}
	if t.limits.Packed -= layer.Size; t.limits.Packed < 0 {
		return nil, problem("it is too large")
	}
	if err := t.download(ctx, layer, place); err != nil {
		return nil, err
	}
	file, err := os.Open(place) //nolint:gosec // See above.
	if err != nil {
		return nil, notKept(err)
	}
	return file, nil
}

// notKept is a problem of the machine, and not one of the registry.
func notKept(err error) error {
	return problem("a layer cannot be kept on the machine: %s", err)
}

// keeper is a file that tells its errors apart from those of what is read.
type keeper struct{ *os.File }

// Write implements io.Writer.
func (k keeper) Write(p []byte) (int, error) {
	n, err := k.File.Write(p)
	if err != nil {
		return n, notKept(err)
	}
	return n, nil
}

// download puts a layer into its place once it is known to be the one of the manifest.
func (t *tree) download(ctx context.Context, layer v1.Descriptor, place string) (err error) {
	content, err := t.from.layer(ctx, layer)
	if err != nil {
		return err //nolint:wrapcheck // The caller explains it.
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	part := place + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // See above.
	if err != nil {
		return notKept(err)
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(keeper{file}, sum), io.LimitReader(content, layer.Size+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if size != layer.Size || layer.Digest.Algorithm != "sha256" || layer.Digest.Hex != hex.EncodeToString(sum.Sum(nil)) {
		return problem("one of its layers has another digest or size")
	}
	if err := os.Rename(part, place); err != nil {
		return notKept(err)
	}
	return nil
}
