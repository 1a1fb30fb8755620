// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// searchPath is the PATH of every image.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Image is one image to assemble.
type Image struct {
	// Name is the full name with the tag.
	Name string
	// Entrypoint is the program that runs if a pod does not set a command.
	Entrypoint []string
	// Layers are stacked in this order.
	Layers []v1.Layer
}

// Content is one image inside an archive.
type Content struct {
	// Names are the names of the image in the archive, with tags.
	Names []string
	// ConfigDigest identifies the image; it is the image id in the CRI of a container runtime.
	ConfigDigest string
}

// WriteArchive assembles the image and writes it into a docker-archive. The file is replaced atomically by a new file,
// so hard links to the old one keep their content.
func WriteArchive(file string, image Image) error {
	tag, err := name.NewTag(image.Name, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("name of image %q: %w", image.Name, err)
	}
	assembled, err := assemble(image)
	if err != nil {
		return fmt.Errorf("assemble image %q: %w", image.Name, err)
	}
	fresh := file + ".new"
	if err := tarball.WriteToFile(fresh, tag, assembled); err != nil {
		return errors.Join(fmt.Errorf("write archive of image %q: %w", image.Name, err), os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, file); err != nil {
		return fmt.Errorf("put archive of image %q in place: %w", image.Name, err)
	}
	return nil
}

func assemble(image Image) (v1.Image, error) {
	assembled, err := mutate.AppendLayers(empty.Image, image.Layers...)
	if err != nil {
		return nil, fmt.Errorf("stack layers: %w", err)
	}
	config, err := assembled.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Created = v1.Time{Time: noTime()}
	config.Config.Entrypoint = image.Entrypoint
	config.Config.Env = []string{searchPath}
	return mutate.ConfigFile(assembled, config)
}

// ReadArchive returns the content of a docker-archive. It reads only the manifest and skips the layers.
func ReadArchive(file string) ([]Content, error) {
	source, err := os.Open(file) //nolint:gosec // The caller names the path.
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	defer source.Close() //nolint:errcheck // Only read from.
	archive := tar.NewReader(source)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("archive %q has no manifest.json: it was not written by \"docker save\"", file)
		}
		if err != nil {
			return nil, fmt.Errorf("read archive %q: %w", file, err)
		}
		if header.Name == "manifest.json" {
			return contents(file, archive)
		}
	}
}

func contents(file string, manifest io.Reader) ([]Content, error) {
	var listed tarball.Manifest
	if err := json.NewDecoder(manifest).Decode(&listed); err != nil {
		return nil, fmt.Errorf("parse manifest.json of archive %q: %w", file, err)
	}
	found := make([]Content, 0, len(listed))
	for _, image := range listed {
		digest := strings.TrimPrefix(strings.TrimSuffix(image.Config, ".json"), "sha256:")
		found = append(found, Content{Names: slices.Clone(image.RepoTags), ConfigDigest: "sha256:" + digest})
	}
	return found, nil
}
