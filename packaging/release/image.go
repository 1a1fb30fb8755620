// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image is the name of the container image.
const image = "terrarium.garden/terrarium"

// user is the user of the image, as the chart of the gardenlet expects it.
const user = "65532:65532"

// entry is a file or a folder of the image.
type entry struct {
	path string
	mode int64
	data []byte
}

// writeImage writes the image as an OCI image layout.
func writeImage(in input) error {
	program, err := os.ReadFile(in.program)
	if err != nil {
		return err
	}
	files, err := archive(in, []entry{
		{path: "etc/", mode: 0o755},
		{path: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{path: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{path: "tmp/", mode: 0o1777},
		{path: "usr/", mode: 0o755},
		{path: "usr/local/", mode: 0o755},
		{path: "usr/local/bin/", mode: 0o755},
		{path: "usr/local/bin/terrarium", mode: 0o755, data: program},
	})
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return fmt.Errorf("make layer: %w", err)
	}
	assembled, err := assemble(in, layer)
	if err != nil {
		return fmt.Errorf("assemble image: %w", err)
	}
	path, err := layout.Write(in.out, empty.Index)
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	return path.AppendImage(assembled, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": in.version, "io.containerd.image.name": image + ":" + in.version,
	}))
}

func assemble(in input, layer v1.Layer) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	assembled, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := assembled.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Created = v1.Time{Time: in.created}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{"/usr/local/bin/terrarium"}, Env: []string{"PATH=/usr/local/bin"},
		Labels: map[string]string{"org.opencontainers.image.version": in.version, "org.opencontainers.image.licenses": "Apache-2.0"},
	}
	return mutate.ConfigFile(assembled, config)
}

// archive packs entries with the time of the release.
func archive(in input, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		header := &tar.Header{Name: e.path, Mode: e.mode, Size: int64(len(e.data)), ModTime: in.created, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.data == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
