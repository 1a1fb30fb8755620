// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder keeps files in a directory.
type Folder struct{ dir string }

var _ Store = &Folder{}

// unfinished precedes the names of files that are being written.
const unfinished = ".unfinished-"

// NewFolder creates the directory if it is missing, and removes what was not finished in it. Only one process may write to it.
func NewFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of snapshots: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, unfinished+"*"))
	if err != nil {
		return nil, fmt.Errorf("look for unfinished snapshots: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove unfinished snapshot: %w", err)
		}
	}

	return &Folder{dir: dir}, nil
}

// ReadFolder reads a directory, and changes nothing in it.
func ReadFolder(dir string) *Folder { return &Folder{dir: dir} }

// String is the path.
func (f *Folder) String() string { return f.dir }

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name+Extension) }

// Put implements Store.
func (f *Folder) Put(_ context.Context, name string, write func(io.Writer) error) error {
	return writeFile(f.path(name), write)
}

// writeFile writes a file under another name, syncs it, and renames it. Only its owner can read it.
func writeFile(path string, write func(io.Writer) error) (err error) {
	defer func() { err = withRemedy(err, filepath.Dir(path)) }()
	temporary, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err = write(temporary); err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), os.Remove(temporary.Name()))
	}

	return syncDirectory(filepath.Dir(path))
}

// withRemedy says what to do about a full disk. Other errors stay as they are.
func withRemedy(err error, dir string) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("no space left: free space on the disk of %q: %w", dir, err)
	}

	return err
}

// writeText writes a file with a text.
func writeText(path string, text []byte) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(text)

		return err
	})
}

// syncDirectory makes renames in a directory last.
func syncDirectory(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return fmt.Errorf("sync %q: %w", dir, err)
	}

	return errors.Join(d.Sync(), d.Close())
}

// Open implements Store.
func (f *Folder) Open(_ context.Context, name string) (File, error) {
	// A name is one of List, never a path.
	if strings.ContainsRune(name, filepath.Separator) {
		return nil, fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}
	file, err := OpenFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}

	return file, err
}

// List implements Store.
func (f *Folder) List(context.Context) ([]Entry, error) {
	files, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var all []Entry
	for _, file := range files {
		e, ok := parseName(file.Name())
		if !ok || !file.Type().IsRegular() {
			continue
		}
		// A file that was removed in the meantime has no size.
		if info, err := file.Info(); err == nil {
			e.Bytes = info.Size()
			all = append(all, e)
		}
	}

	return all, nil
}

// Delete implements Store.
func (f *Folder) Delete(_ context.Context, name string) error {
	if strings.ContainsRune(name, filepath.Separator) {
		return fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}
	err := os.Remove(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("delete snapshot: %w", err)
	}

	return syncDirectory(f.dir)
}

// OpenFile opens a file of a snapshot.
func OpenFile(path string) (File, error) {
	f, err := os.Open(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return diskFile{File: f, size: info.Size()}, nil
}

type diskFile struct {
	*os.File

	size int64
}

// Size implements File.
func (f diskFile) Size() int64 { return f.size }
