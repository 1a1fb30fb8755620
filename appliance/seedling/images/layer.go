// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Entry is one file, folder or link of a layer. At most one of Source, Content and Link is set; an entry without them is
// a folder.
type Entry struct {
	// Path is where the entry is in the image, without a leading slash. Parent folders are added automatically.
	Path string
	// Mode holds the permission bits; it is ignored for links.
	Mode int64
	// Source is a file of this machine with the content of the entry.
	Source string
	// Content is the content of the entry.
	Content []byte
	// Link is the target of a symbolic link.
	Link string
}

// fileLayer is a layer in an uncompressed tar file. It is never compressed, because the archives are imported on the
// machine that built them, where compression costs more than it saves.
type fileLayer struct {
	path   string
	digest v1.Hash
	size   int64
}

var _ v1.Layer = fileLayer{}

func (l fileLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.path) }
func (l fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }
func (l fileLayer) Size() (int64, error)                 { return l.size, nil }
func (l fileLayer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }

// NewLayer writes a layer with the given entries into a file and returns it. Equal entries give equal bytes: they are
// sorted, belong to root, and have no time.
func NewLayer(file string, entries []Entry) (v1.Layer, error) {
	return writeLayer(file, func(w *tar.Writer) error {
		for _, entry := range withParents(entries) {
			if err := writeEntry(w, entry); err != nil {
				return fmt.Errorf("add %q to layer: %w", entry.Path, err)
			}
		}
		return nil
	})
}

// OpenLayer returns the layer in an uncompressed tar file.
func OpenLayer(file string) (v1.Layer, error) {
	source, err := os.Open(file) //nolint:gosec // The caller names the path.
	if err != nil {
		return nil, fmt.Errorf("open layer: %w", err)
	}
	defer source.Close() //nolint:errcheck // Only read from.
	sum := sha256.New()
	size, err := io.Copy(sum, source)
	if err != nil {
		return nil, fmt.Errorf("read layer %q: %w", file, err)
	}
	return fileLayer{path: file, digest: hashOf(sum.Sum(nil)), size: size}, nil
}

// writeLayer writes a tar file with fill and computes its hash. The file is replaced atomically.
func writeLayer(file string, fill func(*tar.Writer) error) (_ v1.Layer, err error) {
	target, err := os.Create(file + ".new") //nolint:gosec // The caller names the path.
	if err != nil {
		return nil, fmt.Errorf("create layer: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, target.Close(), os.Remove(target.Name()))
		}
	}()
	sum := sha256.New()
	counter := &countingWriter{}
	archive := tar.NewWriter(io.MultiWriter(target, sum, counter))
	if err := fill(archive); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("finish layer: %w", err)
	}
	if err := target.Close(); err != nil {
		return nil, fmt.Errorf("close layer: %w", err)
	}
	if err := os.Rename(target.Name(), file); err != nil {
		return nil, fmt.Errorf("put layer in place: %w", err)
	}
	return fileLayer{path: file, digest: hashOf(sum.Sum(nil)), size: counter.written}, nil
}

func writeEntry(w *tar.Writer, entry Entry) error {
	header := &tar.Header{Name: entry.Path, Mode: entry.Mode, ModTime: noTime(), Format: tar.FormatPAX}
	switch {
	case entry.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, entry.Link, 0o777
		return w.WriteHeader(header)
	case entry.Source != "":
		return writeFile(w, header, entry.Source)
	case entry.Content != nil:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(entry.Content))
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err := w.Write(entry.Content)
		return err
	default:
		header.Typeflag, header.Name = tar.TypeDir, entry.Path+"/"
		return w.WriteHeader(header)
	}
}

func writeFile(w *tar.Writer, header *tar.Header, file string) error {
	source, err := os.Open(file) //nolint:gosec // The caller names the path.
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // Only read from.
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file", file)
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, source)
	return err
}

// withParents sorts the entries and adds their parent folders.
func withParents(entries []Entry) []Entry {
	named := map[string]Entry{}
	for _, entry := range entries {
		entry.Path = strings.Trim(path.Clean(entry.Path), "/")
		named[entry.Path] = entry
		for parent := path.Dir(entry.Path); parent != "."; parent = path.Dir(parent) {
			if _, known := named[parent]; !known {
				named[parent] = Entry{Path: parent, Mode: 0o755}
			}
		}
	}
	all := make([]Entry, 0, len(named))
	for _, entry := range named {
		all = append(all, entry)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// noTime is the time of everything in an image, so that the build time does not change it.
func noTime() time.Time { return time.Unix(0, 0).UTC() }

func hashOf(sum []byte) v1.Hash { return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum)} }

type countingWriter struct{ written int64 }

func (c *countingWriter) Write(p []byte) (int, error) {
	c.written += int64(len(p))
	return len(p), nil
}
