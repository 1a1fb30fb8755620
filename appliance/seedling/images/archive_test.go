// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
)

// file is what a test looks at of an entry of a layer.
type file struct {
	Mode    int64
	Content string
	Link    string
	Owner   int
}

func write(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// entries reads a tar file and checks on the way that nothing in it has a time.
func entries(t *testing.T, source io.Reader) map[string]file {
	t.Helper()
	found := map[string]file{}
	archive := tar.NewReader(source)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("Nothing in an image has a time; %q has %v", header.Name, header.ModTime)
		}
		found[header.Name] = file{Mode: header.Mode, Content: string(content), Link: header.Linkname, Owner: header.Uid}
	}
}

func openImage(t *testing.T, archive, image string) v1.Image {
	t.Helper()
	tag, err := name.NewTag(image)
	if err != nil {
		t.Fatal(err)
	}
	read, err := tarball.ImageFromPath(archive, &tag)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// contentsOf returns the files of a whole image, all layers stacked.
func contentsOf(t *testing.T, image v1.Image) map[string]file {
	t.Helper()
	reader := mutate.Extract(image)
	defer reader.Close() //nolint:errcheck // Only read from.
	return entries(t, reader)
}

func TestNewLayer(t *testing.T) {
	t.Parallel()
	program := write(t, filepath.Join(t.TempDir(), "program"), "#!", 0o600)
	list := []images.Entry{
		{Path: "usr/local/bin/program", Mode: 0o755, Source: program},
		{Path: "/etc/passwd", Mode: 0o644, Content: []byte("root")},
		{Path: "usr/local/bin/other", Link: "program"},
		{Path: "tmp", Mode: 0o1777},
		{Path: "etc/empty", Mode: 0o600, Content: []byte{}},
	}
	layer, err := images.NewLayer(filepath.Join(t.TempDir(), "layer"), list)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // Only read from.
	want := map[string]file{
		"etc/":                  {Mode: 0o755},
		"etc/empty":             {Mode: 0o600},
		"etc/passwd":            {Mode: 0o644, Content: "root"},
		"tmp/":                  {Mode: 0o1777},
		"usr/":                  {Mode: 0o755},
		"usr/local/":            {Mode: 0o755},
		"usr/local/bin/":        {Mode: 0o755},
		"usr/local/bin/other":   {Mode: 0o777, Link: "program"},
		"usr/local/bin/program": {Mode: 0o755, Content: "#!"},
	}
	if diff := cmp.Diff(want, entries(t, reader)); diff != "" {
		t.Errorf("A layer has the entries, and the folders that lead to them (-want +got):\n%s", diff)
	}
}

func TestLayersAreReproducible(t *testing.T) {
	t.Parallel()
	digest := func(mtime time.Time, list ...images.Entry) v1.Hash {
		dir := t.TempDir()
		program := write(t, filepath.Join(dir, "program"), "#!", 0o600)
		if err := os.Chtimes(program, mtime, mtime); err != nil {
			t.Fatal(err)
		}
		list = append(list, images.Entry{Path: "bin/program", Mode: 0o755, Source: program})
		layer, err := images.NewLayer(filepath.Join(dir, "layer"), list)
		if err != nil {
			t.Fatal(err)
		}
		hash, err := layer.DiffID()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	a, b := images.Entry{Path: "a", Content: []byte("a")}, images.Entry{Path: "b", Content: []byte("b")}
	first := digest(time.Unix(1, 0), a, b)
	if second := digest(time.Unix(2, 0), b, a); first != second {
		t.Errorf("The same files in another order, made at another time, are the same layer: %v and %v", first, second)
	}
	if third := digest(time.Unix(1, 0), a); first == third {
		t.Errorf("Other files are another layer: both are %v", first)
	}
}

func TestMissingSource(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "layer")
	_, err := images.NewLayer(file, []images.Entry{{Path: "bin/program", Source: "/nowhere/program"}})
	if err == nil || !strings.Contains(err.Error(), "bin/program") || !strings.Contains(err.Error(), "/nowhere/program") {
		t.Errorf("The error names what was to be added and where it should have been; got %v", err)
	}
	leftovers, err := filepath.Glob(file + "*")
	if err != nil || len(leftovers) > 0 {
		t.Errorf("A layer that could not be finished leaves nothing behind; got %q, %v", leftovers, err)
	}
}

func TestWriteArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layers := make([]v1.Layer, 2)
	for i, entry := range []images.Entry{{Path: "etc/a", Mode: 0o600, Content: []byte("lower")}, {Path: "etc/a", Mode: 0o644, Content: []byte("upper")}} {
		layer, err := images.NewLayer(filepath.Join(dir, string(rune('0'+i))), []images.Entry{entry})
		if err != nil {
			t.Fatal(err)
		}
		layers[i] = layer
	}
	archive := filepath.Join(dir, "image.tar")
	const imageName = "terrarium.garden/test:v1"
	err := images.WriteArchive(archive, images.Image{Name: imageName, Entrypoint: []string{"/bin/test"}, Layers: layers})
	if err != nil {
		t.Fatal(err)
	}

	image := openImage(t, archive, imageName)
	if err := validate.Image(image); err != nil {
		t.Errorf("The archive is a valid image: %v", err)
	}
	if got := contentsOf(t, image)["etc/a"]; got.Content != "upper" {
		t.Errorf("A later layer lies over an earlier one; got %+v", got)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/bin/test"}, config.Config.Entrypoint); diff != "" || config.OS != "linux" || !config.Created.Equal(time.Unix(0, 0)) {
		t.Errorf("The configuration names the program, and no time; got %+v (-want +got):\n%s", config, diff)
	}

	digest, err := image.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	contents, err := images.ReadArchive(archive)
	want := []images.Content{{Names: []string{imageName}, ConfigDigest: digest.String()}}
	if diff := cmp.Diff(want, contents); err != nil || diff != "" {
		t.Errorf("ReadArchive() = error %v (-want +got):\n%s", err, diff)
	}
}

func TestWriteArchiveRefusesBadName(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "image.tar")
	err := images.WriteArchive(archive, images.Image{Name: "no tag"})
	if err == nil || !strings.Contains(err.Error(), "no tag") {
		t.Errorf("An invalid name is an error; got %v", err)
	}
}

func TestWriteArchiveKeepsHardLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive, link := write(t, filepath.Join(dir, "image.tar"), "old", 0o600), filepath.Join(dir, "link.tar")
	if err := os.Link(archive, link); err != nil {
		t.Fatal(err)
	}
	if err := images.WriteArchive(archive, images.Image{Name: "terrarium.garden/test:v1"}); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(link); err != nil || string(content) != "old" {
		t.Errorf("A running cluster holds the old archive under another name, which does not change under its feet: %q, %v", content, err)
	}
}

func TestReadArchiveRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layer := filepath.Join(dir, "layer.tar")
	if _, err := images.NewLayer(layer, []images.Entry{{Path: "a"}}); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"a tar file that is no archive of images": layer,
		"no tar file": write(t, filepath.Join(dir, "text"), strings.Repeat("text", 1000), 0o600),
		"no file":     filepath.Join(dir, "missing"),
	} {
		if _, err := images.ReadArchive(file); err == nil || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s is an error that names it; got %v", name, err)
		}
	}
}
