// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
	VPA       = "vpa"
)

// binDir is where the images have their programs, as in the upstream images that they replace.
const binDir = "usr/local/bin"

// Names returns the names of all images that can be built.
func Names() []string { return []string{Seedling, Machine, Terrarium, Pause, Hello, VPA} }

// sizers are the programs that size pods by their use. Unlike other programs of a cluster they cannot be linked into the seedling, because
// their module has nothing but their main packages.
func sizers() []string { return []string{"admission-controller", "recommender", "updater"} }

// Sources are the files that the images are built from.
type Sources struct {
	Terrarium string
	Seedling  string
	Pause     string
	Hello     string
	// VPA is the folder of the programs that size pods.
	VPA string
	// Tools are what the programs in the seedling image call.
	Tools Tools
	// Links are the additional names of the seedling binary in its images.
	Links []string
	// Rootfs is the system of a machine, CNIDir holds its network plugins, and MachineInit is the program that it starts
	// with, at MachineInitPath.
	Rootfs          Rootfs
	CNIDir          string
	MachineInit     []byte
	MachineInitPath string
}

// Versions are the tags of the images.
type Versions struct {
	Terrarium  string
	Kubernetes string
	Programs   string
}

// Builder builds the archives of the playground.
type Builder struct {
	Sources  Sources
	Versions Versions
	OutDir   string
	// Only are the images to build.
	Only []string
}

// NameOf returns the full name of an image.
func NameOf(image, tag string) string { return Registry + "/" + image + ":" + tag }

// ArchiveOf returns the archive of an image in the given folder.
func ArchiveOf(dir, image string) string { return filepath.Join(dir, image+".tar") }

// recipe says how to build one image.
type recipe struct {
	image, tag string
	entrypoint string
	layers     func(ctx context.Context, work string) ([]v1.Layer, error)
}

func (b Builder) recipes() []recipe {
	// Two images share this layer, so it is built once; it is the lowest of both, so a container runtime stores it once.
	var shared layerOnce
	seedling := func(work string) (v1.Layer, error) {
		return shared.do(func() (v1.Layer, error) { return b.seedlingLayer(work) })
	}
	return []recipe{
		{Seedling, b.Versions.Kubernetes, programPath(Seedling), func(_ context.Context, work string) ([]v1.Layer, error) {
			layer, err := seedling(work)
			if err != nil {
				return nil, err
			}
			tools, err := b.Sources.Tools.layer(work)
			return append([]v1.Layer{layer}, tools...), err
		}},
		{Machine, b.Versions.Kubernetes, b.Sources.MachineInitPath, func(ctx context.Context, work string) ([]v1.Layer, error) {
			layer, err := seedling(work)
			if err != nil {
				return nil, err
			}
			return b.machine(ctx, work, layer)
		}},
		{Terrarium, b.Versions.Terrarium, programPath(Terrarium), program(Terrarium, b.Sources.Terrarium)},
		{Pause, b.Versions.Programs, programPath(Pause), program(Pause, b.Sources.Pause)},
		{Hello, b.Versions.Programs, programPath(Hello), program(Hello, b.Sources.Hello, "tar")},
		// Its containers say which of the programs they run; upstream images have each of them here.
		{VPA, b.Versions.Programs, "/" + sizers()[0], func(_ context.Context, work string) ([]v1.Layer, error) {
			entries := system()
			for _, name := range sizers() {
				entries = append(entries, Entry{Path: name, Mode: 0o755, Source: filepath.Join(b.Sources.VPA, name)})
			}
			layer, err := NewLayer(filepath.Join(work, VPA), entries)
			return []v1.Layer{layer}, err
		}},
	}
}

// Build builds the selected images and returns their archives.
func (b Builder) Build(ctx context.Context) ([]string, error) {
	for _, wanted := range b.Only {
		if !slices.Contains(Names(), wanted) {
			return nil, fmt.Errorf("unknown image %q; the images are %s", wanted, strings.Join(Names(), ", "))
		}
	}
	if err := os.MkdirAll(b.OutDir, 0o755); err != nil { //nolint:gosec // Images are not secret.
		return nil, fmt.Errorf("make folder of images: %w", err)
	}
	work, err := os.MkdirTemp(b.OutDir, ".layers-")
	if err != nil {
		return nil, fmt.Errorf("make folder of layers: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // Remaining files do no harm.

	archives := make([]string, 0, len(b.Only))
	group, ctx := errgroup.WithContext(ctx)
	for _, r := range b.recipes() {
		if !slices.Contains(b.Only, r.image) {
			continue
		}
		file := ArchiveOf(b.OutDir, r.image)
		archives = append(archives, file)
		group.Go(func() error {
			layers, err := r.layers(ctx, work)
			if err != nil {
				return fmt.Errorf("image %q: %w", r.image, err)
			}
			return WriteArchive(file, Image{Name: NameOf(r.image, r.tag), Entrypoint: []string{r.entrypoint}, Layers: layers})
		})
	}
	return archives, group.Wait()
}

// layerOnce builds a layer at the first call.
type layerOnce struct {
	once  sync.Once
	layer v1.Layer
	err   error
}

func (o *layerOnce) do(build func() (v1.Layer, error)) (v1.Layer, error) {
	o.once.Do(func() { o.layer, o.err = build() })
	return o.layer, o.err
}

func programPath(name string) string { return "/" + binDir + "/" + name }

func (b Builder) seedlingLayer(work string) (v1.Layer, error) {
	entries := append(system(), Entry{Path: binDir + "/" + Seedling, Mode: 0o755, Source: b.Sources.Seedling})
	// Upstream images have these programs here.
	for _, program := range []string{"coredns", "node-cache", "proxy-server", "proxy-agent", "metrics-server"} {
		entries = append(entries, Entry{Path: program, Link: binDir + "/" + Seedling})
	}
	for _, link := range b.Sources.Links {
		entries = append(entries, Entry{Path: binDir + "/" + link, Link: Seedling})
	}
	return NewLayer(filepath.Join(work, Seedling), entries)
}

// program returns how to build the layers of an image with one static program, which may have further names.
func program(name, source string, links ...string) func(context.Context, string) ([]v1.Layer, error) {
	return func(_ context.Context, work string) ([]v1.Layer, error) {
		entries := append(system(), Entry{Path: binDir + "/" + name, Mode: 0o755, Source: source})
		for _, link := range links {
			entries = append(entries, Entry{Path: binDir + "/" + link, Link: name})
		}
		layer, err := NewLayer(filepath.Join(work, name), entries)
		return []v1.Layer{layer}, err
	}
}

// system is the minimal file system that static programs expect.
func system() []Entry {
	return []Entry{
		{Path: "tmp", Mode: 0o1777},
		{Path: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{Path: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Path: "etc/ssl/certs", Mode: 0o755},
	}
}

func (b Builder) machine(ctx context.Context, work string, seedling v1.Layer) ([]v1.Layer, error) {
	rootfs, err := b.Sources.Rootfs.Layer(ctx)
	if err != nil {
		return nil, err
	}
	plugins, err := os.ReadDir(b.Sources.CNIDir)
	if err != nil {
		return nil, fmt.Errorf("list network plugins: %w", err)
	}
	entries := []Entry{
		{Path: b.Sources.MachineInitPath, Mode: 0o755, Content: b.Sources.MachineInit},
		{Path: "etc/machine-id", Mode: 0o644, Content: []byte{}},
		// The unit of the node agent calls the role of this binary, which the seedling has as a program of the same name.
		{Path: binDir + "/" + Terrarium, Link: Seedling},
	}
	for _, plugin := range plugins {
		if plugin.Type().IsRegular() && !strings.HasPrefix(plugin.Name(), ".") {
			entries = append(entries, Entry{Path: "opt/cni/bin/" + plugin.Name(), Mode: 0o755, Source: filepath.Join(b.Sources.CNIDir, plugin.Name())})
		}
	}
	own, err := NewLayer(filepath.Join(work, Machine), entries)
	return []v1.Layer{seedling, rootfs, own}, err
}
