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
	// Name is the whole name with the tag.
	Name string
	// Entrypoint is the program that runs when a pod names none.
	Entrypoint []string
	// Layers are stacked in this order.
	Layers []v1.Layer
}

// Content is one image inside an archive.
type Content struct {
	// Names are the names with tags that the archive gives to the image.
	Names []string
	// ConfigDigest identifies the image; a container runtime's CRI calls it the image's id.
	ConfigDigest string
}

// WriteArchive assembles the image and writes it into a docker-archive. The file appears whole or not at
// all, and is a new file each time, so hard links to the old one keep their contents.
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

// ReadArchive tells what a docker-archive holds. It reads the list of contents only and leaps over the layers.
func ReadArchive(file string) ([]Content, error) {
	source, err := os.Open(file) //nolint:gosec // The path is the caller's own.
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	defer source.Close() //nolint:errcheck // Only read from.
	archive := tar.NewReader(source)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("archive %q has no manifest.json: it is not what \"docker save\" writes", file)
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
