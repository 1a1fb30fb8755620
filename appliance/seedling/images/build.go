// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/errgroup"
)

// Names of the images; the names of their archives are the same without the registry and the tag.
const (
	Registry  = "terrarium.garden"
	Terrarium = "terrarium"
	Seedling  = "seedling"
	Machine   = "machine"
	Pause     = "pause"
	Hello     = "hello"
)

// binDir is where the images have their programs: the same folder as in the upstream images that ours stand for.
const binDir = "usr/local/bin"

// Sources are the files that the images are made of. An image whose sources are missing is not made.
type Sources struct {
	Terrarium string
	Seedling  string
	Pause     string
	Hello     string
	// CNIDir holds the network plugins of a machine, MachineInit the program that a machine starts with.
	CNIDir      string
	MachineInit string
	// Rootfs is the system of a machine.
	Rootfs Rootfs
	// Links are the names that the seedling binary is also known by in its images.
	Links []string
}

// Versions are the tags of the images.
type Versions struct {
	Terrarium  string
	Kubernetes string
	Programs   string
}

// Builder makes the archives of the playground.
type Builder struct {
	Sources  Sources
	Versions Versions
	OutDir   string
}

// NameOf returns the whole name of an image.
func NameOf(image, tag string) string { return Registry + "/" + image + ":" + tag }

// ArchiveOf returns the file of an image in the given folder.
func ArchiveOf(dir, image string) string { return filepath.Join(dir, image+".tar") }

// Build makes every image whose sources are given and returns the archives.
func (b Builder) Build(ctx context.Context) ([]string, error) {
	if err := os.MkdirAll(b.OutDir, 0o755); err != nil { //nolint:gosec // Images are no secret.
		return nil, fmt.Errorf("make folder of images: %w", err)
	}
	work, err := os.MkdirTemp(b.OutDir, ".layers-")
	if err != nil {
		return nil, fmt.Errorf("make folder of layers: %w", err)
	}
	defer os.RemoveAll(work)

	seedling, err := b.seedlingLayer(work)
	if err != nil {
		return nil, err
	}
	archives := make([]string, 0, 5)
	group, ctx := errgroup.WithContext(ctx)
	for _, make := range []struct {
		image, tag, source string
		assemble           func(ctx context.Context) ([]v1.Layer, []string, error)
	}{
		{Seedling, b.Versions.Kubernetes, b.Sources.Seedling, func(context.Context) ([]v1.Layer, []string, error) {
			return []v1.Layer{seedling}, []string{"/" + binDir + "/" + Seedling}, nil
		}},
		{Machine, b.Versions.Kubernetes, b.Sources.MachineInit, func(ctx context.Context) ([]v1.Layer, []string, error) {
			return b.machine(ctx, work, seedling)
		}},
		{Terrarium, b.Versions.Terrarium, b.Sources.Terrarium, b.program(work, Terrarium, b.Sources.Terrarium)},
		{Pause, b.Versions.Programs, b.Sources.Pause, b.program(work, Pause, b.Sources.Pause)},
		{Hello, b.Versions.Programs, b.Sources.Hello, b.program(work, Hello, b.Sources.Hello)},
	} {
		if make.source == "" {
			continue
		}
		file := ArchiveOf(b.OutDir, make.image)
		archives = append(archives, file)
		group.Go(func() error {
			layers, entrypoint, err := make.assemble(ctx)
			if err != nil {
				return fmt.Errorf("image %q: %w", make.image, err)
			}
			return WriteArchive(file, Image{Name: NameOf(make.image, make.tag), Entrypoint: entrypoint, Layers: layers})
		})
	}
	return archives, group.Wait()
}

// seedlingLayer is the same in two images, so that a container runtime keeps it once: it is the lowest layer of both.
func (b Builder) seedlingLayer(work string) (v1.Layer, error) {
	entries := append(system(), Entry{Path: binDir + "/" + Seedling, Mode: 0o755, Source: b.Sources.Seedling})
	for _, link := range b.Sources.Links {
		entries = append(entries, Entry{Path: binDir + "/" + link, Link: Seedling})
	}
	return NewLayer(filepath.Join(work, Seedling), entries)
}

// program returns how to assemble an image of one static program.
func (b Builder) program(work, name, source string) func(context.Context) ([]v1.Layer, []string, error) {
	return func(context.Context) ([]v1.Layer, []string, error) {
		entries := append(system(), Entry{Path: binDir + "/" + name, Mode: 0o755, Source: source})
		layer, err := NewLayer(filepath.Join(work, name), entries)
		return []v1.Layer{layer}, []string{"/" + binDir + "/" + name}, err
	}
}

// system is the little that static programs expect around them.
func system() []Entry {
	return []Entry{
		{Path: "tmp", Mode: 0o1777},
		{Path: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{Path: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Path: "etc/ssl/certs", Mode: 0o755},
	}
}

func (b Builder) machine(ctx context.Context, work string, seedling v1.Layer) ([]v1.Layer, []string, error) {
	rootfs, err := b.Sources.Rootfs.Layer(ctx)
	if err != nil {
		return nil, nil, err
	}
	plugins, err := os.ReadDir(b.Sources.CNIDir)
	if err != nil {
		return nil, nil, fmt.Errorf("list network plugins: %w", err)
	}
	entries := []Entry{
		{Path: binDir + "/machine-init", Mode: 0o755, Source: b.Sources.MachineInit},
		{Path: "etc/machine-id", Mode: 0o644, Content: []byte{}},
	}
	for _, plugin := range plugins {
		if plugin.Type().IsRegular() && !strings.HasPrefix(plugin.Name(), ".") {
			entries = append(entries, Entry{Path: "opt/cni/bin/" + plugin.Name(), Mode: 0o755, Source: filepath.Join(b.Sources.CNIDir, plugin.Name())})
		}
	}
	own, err := NewLayer(filepath.Join(work, Machine), entries)
	return []v1.Layer{seedling, rootfs, own}, []string{"/" + binDir + "/machine-init"}, err
}
