// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// archive is as much of tar as `kubectl cp` calls: `cf - PATH` writes an archive to the standard output, and `-xmf - [-C FOLDER]` unpacks
// the one on the standard input. Only files and folders are packed and unpacked.
func archive(args []string, in io.Reader, out io.Writer) error {
	var pack, unpack bool
	var operands []string
	folder := "."
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "cf":
			pack = true
		case "-xmf":
			unpack = true
		case "-C":
			if i++; i >= len(args) {
				return errors.New("-C needs a folder")
			}
			folder = args[i] //nolint:gosec // The length was just compared.
		case "-", "--no-same-permissions", "--no-same-owner":
		default:
			operands = append(operands, args[i])
		}
	}
	switch {
	case pack && !unpack && len(operands) == 1:
		return write(out, operands[0])
	case unpack && !pack && len(operands) == 0:
		return read(in, folder)
	default:
		return fmt.Errorf("tar %s is not understood; usage: tar cf - PATH | tar -xmf - [-C FOLDER]", strings.Join(args, " "))
	}
}

// write packs a file, or a folder with all that is in it. As of every tar, the names are without a slash at the beginning.
func write(out io.Writer, path string) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error { //nolint:gosec // The user who may copy from a pod names the path.
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return add(w, path, entry)
	})
	return errors.Join(err, w.Close())
}

func add(w *tar.Writer, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	header.Name = strings.TrimPrefix(filepath.Clean(path), "/")
	if err := w.WriteHeader(header); err != nil || entry.IsDir() {
		return err
	}
	file, err := os.Open(path) //nolint:gosec // The purpose of the program is to read what its argument names.
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // It is only read.
	_, err = io.Copy(w, file)
	return err
}

// read unpacks an archive into a folder, and nothing outside of it.
func read(in io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written to it.
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if err := extract(root, header, r); err != nil {
			return fmt.Errorf("unpack %q: %w", header.Name, err)
		}
	}
}

func extract(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.Clean(header.Name)
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
	default:
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, header.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
