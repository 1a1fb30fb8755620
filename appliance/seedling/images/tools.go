// SPDX-License-Identifier: Apache-2.0

package images

import (
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Tools are programs of this machine that the programs of an image call, with the libraries that they are linked with.
// For example, kube-proxy calls nft.
type Tools struct {
	// Programs are their absolute paths, on this machine and in the image.
	Programs []string
	// Root is the root of the file system of this machine; it is / outside of tests.
	Root string
}

// layer returns the tools as a separate layer, or nil if there are none.
func (t Tools) layer(work string) ([]v1.Layer, error) {
	if len(t.Programs) == 0 {
		return nil, nil
	}
	entries, err := t.Entries()
	if err != nil {
		return nil, err
	}
	layer, err := NewLayer(filepath.Join(work, "tools"), entries)
	return []v1.Layer{layer}, err
}

// Entries lists the programs, their loader and their libraries, and the links of a file system with merged /usr.
func (t Tools) Entries() ([]Entry, error) {
	entries := []Entry{{Path: "lib", Link: "usr/lib"}, {Path: "lib64", Link: "usr/lib64"}}
	var seen []string
	queue := slices.Clone(t.Programs)
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		if slices.Contains(seen, file) {
			continue
		}
		seen = append(seen, file)
		source, err := filepath.EvalSymlinks(filepath.Join(t.Root, file))
		if err != nil {
			return nil, fmt.Errorf("find %q on this machine, which the image needs: %w", file, err)
		}
		entries = append(entries, Entry{Path: merged(file), Mode: 0o755, Source: source})
		needed, err := t.needs(source)
		if err != nil {
			return nil, err
		}
		queue = append(queue, needed...)
	}
	return entries, nil
}

// needs returns the loader and the libraries of a program or library.
func (t Tools) needs(source string) ([]string, error) {
	binary, err := elf.Open(source)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", source, err)
	}
	defer binary.Close() //nolint:errcheck // Only read from.
	var needed []string
	for _, section := range binary.Progs {
		if section.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, section.Filesz)
		if _, err := section.ReadAt(name, 0); err != nil {
			return nil, fmt.Errorf("read the loader of %q: %w", source, err)
		}
		needed = append(needed, string(name[:len(name)-1]))
	}
	libraries, err := binary.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("list the libraries of %q: %w", source, err)
	}
	for _, library := range libraries {
		found, err := t.find(library)
		if err != nil {
			return nil, fmt.Errorf("%w, which %q needs", err, source)
		}
		needed = append(needed, found)
	}
	return needed, nil
}

// find searches the folders of the loader.
func (t Tools) find(library string) (string, error) {
	folders := []string{"/usr/lib", "/usr/lib64", "/lib", "/lib64"}
	for _, pattern := range []string{"/usr/lib/*-linux-gnu", "/lib/*-linux-gnu"} {
		matches, err := filepath.Glob(filepath.Join(t.Root, pattern))
		if err != nil {
			return "", fmt.Errorf("find library %q: %w", library, err)
		}
		for _, match := range matches {
			folder, err := filepath.Rel(t.Root, match)
			if err != nil {
				return "", fmt.Errorf("find library %q: %w", library, err)
			}
			folders = append(folders, "/"+folder)
		}
	}
	for _, folder := range folders {
		file := path.Join(folder, library)
		if _, err := os.Stat(filepath.Join(t.Root, file)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("library %q is not on this machine", library)
}

// merged is the path of a file if /lib and /lib64 are links into /usr.
func merged(file string) string {
	for _, folder := range []string{"/lib/", "/lib64/"} {
		if len(file) > len(folder) && file[:len(folder)] == folder {
			return "usr" + file
		}
	}
	return file[1:]
}
