// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

const defaultMode = 0o644

var errTwice = errors.New("it is there twice")

// Configuration is what a machine consists of: the content of the Secret of its pool.
type Configuration struct {
	// Files of the machine.
	Files []gardenextensionsv1alpha1.File `json:"files,omitempty"`
	// Units of the machine, in the order in which they are restarted.
	Units []gardenextensionsv1alpha1.Unit `json:"units,omitempty"`
	// InPlaceUpdates is set for machines that are updated in place.
	InPlaceUpdates *InPlaceUpdates `json:"inPlaceUpdates,omitempty"`
}

// Encode returns the content of the Secret of a pool, and its checksum, which a node reports when it has applied it.
func Encode(c Configuration) (data []byte, checksum string, err error) {
	data, err = yaml.Marshal(c)
	if err != nil {
		return nil, "", fmt.Errorf("encode the configuration of machines: %w", err)
	}
	return data, Checksum(data), nil
}

// Checksum identifies a configuration.
func Checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Decode reads the content of the Secret of a pool. What this version does not know is an error: half a configuration is not applied.
func Decode(data []byte) (Configuration, error) {
	c := Configuration{}
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return Configuration{}, fmt.Errorf("read the configuration of the machine: %w", err)
	}
	return c, nil
}

// File is a file of a machine.
type File struct {
	// Path is absolute.
	Path string
	// Mode has the permissions, and no special bits.
	Mode uint32
	// Data is the content, if it does not come from an image.
	Data []byte
	// From is where the content comes from; nil for Data.
	From *imagefile.Ref
}

// UniqueFiles reports an error if a file is there twice for all machines, or twice for the same one: nobody could say which counts. One machine may
// have a file in place of that of all (EXT-OSC-7).
func UniqueFiles(files []gardenextensionsv1alpha1.File) error {
	type place struct{ path, host string }
	seen := map[place]bool{}
	for i := range files {
		at := place{path: filepath.Clean(files[i].Path), host: ptr.Deref(files[i].HostName, "")}
		if !seen[at] {
			seen[at] = true
			continue
		}
		whose := "all machines"
		if at.host != "" {
			whose = fmt.Sprintf("machine %q", at.host)
		}
		return fmt.Errorf("file %q: %w for %s", files[i].Path, errTwice, whose)
	}
	return nil
}

// claimedOnce reports an error if two units, or a unit and a file of the configuration, want different files in one place: each pass would write
// both, and restart the unit.
func claimedOnce(files []File) error {
	seen := map[string]File{}
	for _, file := range files {
		before, found := seen[file.Path]
		if found && (before.Mode != file.Mode || !bytes.Equal(before.Data, file.Data)) {
			return fmt.Errorf("file %q: %w with different content, as a file and as that of a unit, or as those of two units", file.Path, errTwice)
		}
		seen[file.Path] = file
	}
	return nil
}

// MergeUnits returns each unit once, in the order of the first mention. What a later mention says takes the place of what an earlier one
// says, and its drop-ins and files are added: that is how an operating system adds to a unit that all machines have (EXT-OSC-4).
func MergeUnits(units []gardenextensionsv1alpha1.Unit) []gardenextensionsv1alpha1.Unit {
	merged := make([]gardenextensionsv1alpha1.Unit, 0, len(units))
	place := map[string]int{}
	for i := range units {
		at, found := place[units[i].Name]
		if !found {
			place[units[i].Name] = len(merged)
			merged = append(merged, *units[i].DeepCopy())
			continue
		}
		add(&merged[at], units[i].DeepCopy())
	}
	return merged
}

func add(unit, more *gardenextensionsv1alpha1.Unit) {
	unit.Command = cmp.Or(more.Command, unit.Command)
	unit.Enable = cmp.Or(more.Enable, unit.Enable)
	unit.Content = cmp.Or(more.Content, unit.Content)
	unit.FilePaths = union(unit.FilePaths, more.FilePaths)
	for _, dropIn := range more.DropIns {
		same := func(d gardenextensionsv1alpha1.DropIn) bool { return d.Name == dropIn.Name }
		unit.DropIns = append(slices.DeleteFunc(unit.DropIns, same), dropIn)
	}
}

// filesOf returns the files that the machine of that name has. A file for one machine takes the place of the one for all.
func filesOf(c Configuration, hostName string) ([]File, error) {
	if err := UniqueFiles(c.Files); err != nil {
		return nil, err
	}
	var all []File
	place := map[string]int{}
	for _, particular := range []bool{false, true} {
		for i := range c.Files {
			file := &c.Files[i]
			if particular != (file.HostName != nil) || (particular && *file.HostName != hostName) {
				continue
			}
			decoded, err := decodeFile(file)
			if err != nil {
				return nil, fmt.Errorf("file %q: %w", file.Path, err)
			}
			if at, found := place[decoded.Path]; found {
				all[at] = decoded
				continue
			}
			place[decoded.Path] = len(all)
			all = append(all, decoded)
		}
	}
	return all, nil
}

func decodeFile(file *gardenextensionsv1alpha1.File) (File, error) {
	if !filepath.IsAbs(file.Path) || filepath.Clean(file.Path) != file.Path {
		return File{}, errors.New("the path is not absolute, or not in its shortest form")
	}
	inline, image := file.Content.Inline, file.Content.ImageRef
	decoded := File{Path: file.Path, Mode: ptr.Deref(file.Permissions, defaultMode) & uint32(fs.ModePerm)}
	switch {
	case inline == nil && image != nil:
		decoded.From = &imagefile.Ref{Image: image.Image, Path: image.FilePathInImage}
		return decoded, decoded.From.Validate()
	case inline == nil || image != nil:
		return File{}, errors.New("its content is not part of the configuration, or both that and in an image")
	}
	switch gardenextensionsv1alpha1.FileCodecID(inline.Encoding) {
	case gardenextensionsv1alpha1.FileCodecIDPlain:
		decoded.Data = []byte(inline.Data)
	case gardenextensionsv1alpha1.FileCodecIDBase64:
		data, err := base64.StdEncoding.DecodeString(inline.Data)
		if err != nil {
			return File{}, fmt.Errorf("decode content: %w", err)
		}
		decoded.Data = data
	default:
		return File{}, fmt.Errorf("the encoding %q is not known", inline.Encoding)
	}
	return decoded, nil
}
