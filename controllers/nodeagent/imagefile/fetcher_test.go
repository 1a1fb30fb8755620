// SPDX-License-Identifier: Apache-2.0

package imagefile_test

import (
	"archive/tar"
	"bytes"
	"net/http/httptest"
	"path"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

func dir(name string) node            { return node{name: name, kind: tar.TypeDir} }
func symlink(name, link string) node  { return node{name: name, kind: tar.TypeSymlink, link: link} }
func hardlink(name, link string) node { return node{name: name, kind: tar.TypeLink, link: link} }
func text(name, data string) node     { return node{name: name, data: data} }

// TestFetch_EXT_OSC_3 takes one file out of images of several layers, the lowest one first. A container of the image would see the same.
func TestFetch_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	cases := map[string]struct {
		reason string
		layers [][]node
		path   string
		want   string
		wrong  string
	}{
		"Plain":           {reason: "a file is where it is", layers: [][]node{{dir("usr/"), text("usr/tool", "v1")}}, path: "/usr/tool", want: "v1"},
		"Relative":        {reason: "a path may begin at the root without saying so, and names as tar writes them", layers: [][]node{{text("./usr/tool", "v1")}}, path: "usr/tool", want: "v1"},
		"Upper":           {reason: "the uppermost file counts", layers: [][]node{{text("tool", "v1")}, {text("tool", "v2")}}, path: "/tool", want: "v2"},
		"Lower":           {reason: "what upper layers do not have is in lower ones", layers: [][]node{{text("usr/tool", "v1")}, {dir("usr/"), text("usr/other", "v2")}}, path: "/usr/tool", want: "v1"},
		"Twice":           {reason: "of two files of one name in a layer the last one counts", layers: [][]node{{text("tool", "v1"), text("tool", "v2")}}, path: "/tool", want: "v2"},
		"Empty":           {reason: "an empty file is a file", layers: [][]node{{text("tool", "")}}, path: "/tool", want: ""},
		"Whiteout":        {reason: "a file that an upper layer removes is gone", layers: [][]node{{text("usr/tool", "v1")}, {text("usr/.wh.tool", "")}}, path: "/usr/tool", wrong: "no such file"},
		"WhiteoutFolder":  {reason: "with a folder all in it is gone", layers: [][]node{{text("usr/bin/tool", "v1")}, {text(".wh.usr", "")}}, path: "/usr/bin/tool", wrong: "no such file"},
		"WhiteoutBelow":   {reason: "a layer removes nothing of itself", layers: [][]node{{text("usr/tool", "v1")}, {text("usr/.wh.tool", ""), text("usr/tool", "v2")}}, path: "/usr/tool", want: "v2"},
		"WhiteoutAbove":   {reason: "nor of layers above", layers: [][]node{{text("usr/.wh.tool", "")}, {text("usr/tool", "v2")}}, path: "/usr/tool", want: "v2"},
		"Opaque":          {reason: "of a folder that is emptied nothing is left", layers: [][]node{{text("usr/a/tool", "v1")}, {dir("usr/"), text("usr/.wh..wh..opq", "")}}, path: "/usr/a/tool", wrong: "no such file"},
		"OpaqueFilled":    {reason: "but for what its layer has", layers: [][]node{{text("usr/tool", "v1")}, {text("usr/.wh..wh..opq", ""), text("usr/tool", "v2")}}, path: "/usr/tool", want: "v2"},
		"OtherNotes":      {reason: "notes of a file system are no whiteouts", layers: [][]node{{text("plnk", "v1")}, {text(".wh..wh.plnk", "")}}, path: "/plnk", want: "v1"},
		"InPlaceOfFolder": {reason: "a file in the place of a folder hides what was in it", layers: [][]node{{text("usr/tool", "v1")}, {text("usr", "")}}, path: "/usr/tool", wrong: "no such file"},
		"Symlink":         {reason: "a link is followed in its folder", layers: [][]node{{text("usr/tool-1", "v1"), symlink("usr/tool", "tool-1")}}, path: "/usr/tool", want: "v1"},
		"SymlinkUp":       {reason: "and up", layers: [][]node{{text("opt/tool", "v1"), symlink("usr/bin/tool", "../../opt/tool")}}, path: "/usr/bin/tool", want: "v1"},
		"SymlinkAbsolute": {reason: "and from the root of the image", layers: [][]node{{text("opt/tool", "v1")}, {symlink("usr/tool", "/opt/tool")}}, path: "/usr/tool", want: "v1"},
		"SymlinkUpper":    {reason: "to what is in the whole image", layers: [][]node{{text("a", "v1"), symlink("tool", "a")}, {text("a", "v2")}}, path: "/tool", want: "v2"},
		"SymlinkFolder":   {reason: "a folder may be a link", layers: [][]node{{dir("usr/"), dir("usr/bin/"), text("usr/bin/tool", "v1"), symlink("bin", "usr/bin")}}, path: "/bin/tool", want: "v1"},
		"SymlinkFolders":  {reason: "and lead through another one", layers: [][]node{{text("r/b/tool", "v1"), symlink("r/bin", "b")}, {symlink("usr", "/r"), symlink("bin", "usr/bin")}}, path: "/bin/tool", want: "v1"},
		"SymlinkReplaces": {reason: "a link in the place of a folder hides what was in it", layers: [][]node{{text("usr/tool", "v1"), text("new/tool", "v2")}, {symlink("usr", "new")}}, path: "/usr/tool", want: "v2"},
		"Hardlink":        {reason: "a hard link is the file that was there when it came", layers: [][]node{{text("a", "v1"), hardlink("tool", "a")}, {text("a", "v2")}}, path: "/tool", want: "v1"},
		"HardlinkLower":   {reason: "also one of a lower layer", layers: [][]node{{text("a", "v1")}, {hardlink("tool", "a")}}, path: "/tool", want: "v1"},
		"Absent":          {reason: "what is not there is told", layers: [][]node{{text("usr/tool", "v1")}}, path: "/usr/tools", wrong: "no such file"},
		"Folder":          {reason: "a folder is no file", layers: [][]node{{dir("usr/")}}, path: "/usr", wrong: "no regular file"},
		"BelowFile":       {reason: "nothing is in a file", layers: [][]node{{text("usr", "")}}, path: "/usr/tool", wrong: "no such file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var layers []v1.Layer
			for _, nodes := range tc.layers {
				layers = append(layers, layer(t, nodes...))
			}
			got, err := fetch(t, fetcher(t), s.push(name, layers...), tc.path)
			if tc.wrong != "" {
				refused(t, tc.reason, got, err, tc.wrong, tc.path)
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%s\nFetch(...) = %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestPacked_EXT_OSC_3 has layers that are packed in all ways.
func TestPacked_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	plain := archive(t, text("tool", "v1"))
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for reason, l := range map[string]v1.Layer{
		"plain": static.NewLayer(plain, types.OCIUncompressedLayer), "docker": static.NewLayer(gzipped(t, plain), types.DockerLayer),
		"zstd": static.NewLayer(encoder.EncodeAll(plain, nil), types.OCILayerZStd), "misnamed": static.NewLayer(plain, types.OCILayer),
	} {
		if got, err := fetch(t, fetcher(t), s.push(reason, l), "/tool"); got != "v1" || err != nil {
			t.Errorf("%s: Fetch(...) = %q, %v, want the file", reason, got, err)
		}
	}
}

// TestPlatform_EXT_OSC_3 has an image for several platforms, by tag and by digest.
func TestPlatform_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range []v1.Platform{
		{OS: "unknown", Architecture: "unknown"}, {OS: "linux", Architecture: "amd64"}, {OS: "windows", Architecture: "arm64"}, {OS: "linux", Architecture: "arm64", Variant: "v8"},
	} {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image(t, layer(t, text("tool", "for "+p.String()))), Descriptor: v1.Descriptor{Platform: &p},
		})
	}
	ref := s.host + "/tools:v1"
	if err := remote.WriteIndex(s.parse(ref), index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{ref, s.host + "/tools@" + digest.String(), s.host + "/tools:none@" + digest.String()} {
		if got, err := fetch(t, fetcher(t), ref, "/tool"); got != "for linux/arm64/v8" || err != nil {
			t.Errorf("Fetch(...) of %s = %q, %v, want the one for the platform of the machine", ref, got, err)
		}
	}
	other := fetcher(t)
	other.Platform.Architecture = "s390x"
	got, err := fetch(t, other, ref, "/tool")
	refused(t, "what is not there for a platform is told", got, err, "not there for the platform linux/s390x")
}

// TestFolder_EXT_OSC_3 takes several files from one image: its layers come once, and only those that are needed.
func TestFolder_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	ref := s.push("v1", layer(t, text("lower", "v1")), layer(t, text("upper", "v2"), text("other", "v3")))
	folder, f := t.TempDir(), fetcher(t)
	for _, tc := range []struct {
		path, want string
		blobs      int
	}{{"upper", "v2", 1}, {"other", "v3", 0}, {"lower", "v1", 1}, {"upper", "v2", 0}} {
		var got bytes.Buffer
		err := f.Fetch(t.Context(), folder, imagefile.Ref{Image: ref, Path: tc.path}, &got)
		if blobs := s.blobs(); got.String() != tc.want || err != nil || blobs != tc.blobs {
			t.Errorf("Fetch(...) of %s = %q, %v with %d layers, want %q with %d", tc.path, got.String(), err, blobs, tc.want, tc.blobs)
		}
	}
}

// TestRefs_EXT_OSC_3 names no file of an image.
func TestRefs_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	for _, ref := range []imagefile.Ref{
		{Image: "example.org/tools:v1"},
		{Image: "example.org/tools:v1", Path: "/"},
		{Image: "example.org/tools:v1", Path: "usr/"},
		{Image: "example.org/tools:v1", Path: ".."},
		{Image: "example.org/tools:v1", Path: "a\x00"},
		{Image: "", Path: "/tool"},
		{Image: "https://example.org/tools:v1", Path: "/tool"},
		{Image: "ali:" + password + "@example.org/Tools", Path: "/tool"},
	} {
		if err := ref.Validate(); err == nil {
			t.Errorf("Validate() accepts %s", ref)
		}
	}
	if err := (imagefile.Ref{Image: "tools", Path: path.Join("usr", "tool")}).Validate(); err != nil {
		t.Errorf("Validate() = %v, although a registry and a tag have defaults", err)
	}
}
