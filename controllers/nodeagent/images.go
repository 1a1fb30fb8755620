// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-logr/logr"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// layersDir is in the state folder. It has layers of images only while files are fetched.
const layersDir = "layers"

var errNoImages = errors.New("there is nothing to fetch files of images with")

// fetchAll puts the files of images in place that differ. The machine keeps those that cannot be fetched as they were, and everything else
// goes on: a registry that does not answer must not keep it from a new certificate. Only units that need the file wait for it (EXT-OSC-3).
// It reports whether a file was fetched.
func (m *Machine) fetchAll(ctx context.Context, p *plan) bool {
	files := slices.DeleteFunc(slices.Clone(p.changed), func(f File) bool { return f.From == nil })
	if len(files) == 0 {
		return false
	}
	m.settleOthers(ctx, p, files)
	limited, cancel := context.WithTimeout(ctx, imagefile.Timeout)
	defer cancel()
	folder, end, noFolder := m.layers()
	errs := []error{noFolder}
	for _, file := range files {
		got, err := taken{}, noFolder
		if err == nil {
			got, err = m.fetch(limited, folder, file)
			errs = append(errs, err)
		}
		if err != nil {
			p.missing = append(p.missing, file.Path)
			continue
		}
		p.wanted.Images[file.Path] = got
		logr.FromContextOrDiscard(ctx).Info("File fetched", "path", file.Path, "image", file.From.Image, "pathInImage", file.From.Path)
	}
	p.reason = errors.Join(append(errs, end())...)
	return len(p.missing) < len(files)
}

// settleOthers restarts the units that need none of the files, the agent itself not: to fetch these may take long. What fails here has had its
// try in this pass: a unit that hangs must not take the time of two.
func (m *Machine) settleOthers(ctx context.Context, p *plan, files []File) {
	for _, file := range files {
		p.missing = append(p.missing, file.Path)
	}
	p.wanted.Unsettled = slices.DeleteFunc(slices.Clone(p.wanted.Unsettled), func(name string) bool {
		unit := p.units[name]
		if unit == nil || name == Unit || p.awaits(unit) {
			return false
		}
		if err := m.restart(ctx, unit); err != nil {
			p.failed[name] = err
			return false
		}
		logr.FromContextOrDiscard(ctx).Info("Unit restarted", "unit", name)
		return true
	})
	p.missing = nil
}

// layers makes the folder for layers of images, without what an agent that was killed has left there, and returns how to remove it.
func (m *Machine) layers() (string, func() error, error) {
	folder := m.at(filepath.Join(m.StateDir, layersDir))
	end := func() error {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("remove layers of images: %w", err)
		}
		return nil
	}
	if err := end(); err != nil {
		return "", end, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", end, fmt.Errorf("make a folder for layers of images: %w", err)
	}
	return folder, end, nil
}

func (m *Machine) fetch(ctx context.Context, folder string, file File) (taken, error) {
	if m.Images == nil {
		return taken{}, fmt.Errorf("file %q: %w", file.Path, errNoImages)
	}
	sum := sha256.New()
	err := put(m.at(file.Path), file.Mode, func(to io.Writer) error {
		return m.Images.Fetch(ctx, folder, *file.From, io.MultiWriter(to, sum)) //nolint:wrapcheck // It says what it is about.
	})
	return taken{Ref: *file.From, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// awaits reports whether a unit needs a file that could not be fetched.
func (p *plan) awaits(unit *gardenextensionsv1alpha1.Unit) bool {
	return slices.ContainsFunc(unit.FilePaths, func(path string) bool { return slices.Contains(p.missing, path) })
}

// sumOf is the checksum of a file; empty if it cannot be read.
func sumOf(path string) string {
	file, err := os.Open(path) //nolint:gosec // The paths are those of the configuration.
	if err != nil {
		return ""
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	if errors.Join(err, file.Close()) != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Fetch puts one file of an image in place, unless it is there, and remembers it for the agent. It is for machines that need the file before
// their agent runs.
func (m *Machine) Fetch(ctx context.Context, file File) error {
	before, err := m.load()
	if err != nil {
		return err
	}
	if same, err := m.has(file, before.Images[file.Path]); same || err != nil {
		return err
	}
	folder, end, err := m.layers()
	if err != nil {
		return err
	}
	got, err := m.fetch(ctx, folder, file)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	if before.Images == nil {
		before.Images = map[string]taken{}
	}
	before.Images[file.Path] = got
	return m.save(before)
}
