// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// compare finds the files that differ, and those that are to go.
func (m *Machine) compare(p *plan, files []File) error {
	p.wanted.Images = map[string]taken{}
	for _, file := range files {
		p.wanted.Files = append(p.wanted.Files, file.Path)
		if had, found := p.before.Images[file.Path]; found && file.From != nil {
			p.wanted.Images[file.Path] = had
		}
		same, err := m.has(file, p.before.Images[file.Path])
		if err != nil {
			return err
		}
		if !same {
			p.changed = append(p.changed, file)
		}
	}
	for _, path := range p.before.Files {
		if slices.Contains(p.wanted.Files, path) {
			continue
		}
		gone, err := m.gone(path)
		if err != nil {
			return err
		}
		if !gone {
			p.removed = append(p.removed, path)
		}
	}
	return nil
}

// gone reports whether there is no file at the path; a folder there is of other files. What an interrupted change has removed already concerns no
// unit again: those that it concerns are unsettled since before.
func (m *Machine) gone(path string) (bool, error) {
	info, err := os.Lstat(m.at(path))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at file: %w", err)
	}
	return info.IsDir(), nil
}

// has reports whether a file is as it is wanted, and as it was taken from its image.
func (m *Machine) has(file File, had taken) (bool, error) {
	path := m.at(file.Path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at file: %w", err)
	}
	if info.IsDir() {
		return false, fmt.Errorf("file %q: there is a folder in its place", file.Path)
	}
	if !info.Mode().IsRegular() || uint32(info.Mode().Perm()) != file.Mode {
		return false, nil
	}
	if file.From != nil {
		return *file.From == had.Ref && sumOf(path) == had.SHA256, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // The paths are those of the configuration.
	if err != nil {
		return false, fmt.Errorf("read file: %w", err)
	}
	return bytes.Equal(data, file.Data), nil
}
