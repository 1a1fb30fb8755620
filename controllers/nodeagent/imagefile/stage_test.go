// SPDX-License-Identifier: Apache-2.0

package imagefile_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
	"github.com/terrarium-garden/terrarium/controllers/registry/registrytest"
)

// node is something in a layer: a regular file if nothing else is said.
type node struct {
	name, data string
	kind       byte
	link       string
}

// archive packs nodes, in their order.
func archive(t *testing.T, nodes ...node) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, n := range nodes {
		if n.kind == 0 {
			n.kind = tar.TypeReg
		}
		if err := writer.WriteHeader(&tar.Header{Name: n.name, Typeflag: n.kind, Linkname: n.link, Size: int64(len(n.data)), Mode: 0o4777}); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(n.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// layer is one as most images have it.
func layer(t *testing.T, nodes ...node) v1.Layer {
	t.Helper()
	return static.NewLayer(gzipped(t, archive(t, nodes...)), types.OCILayer)
}

func image(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	made, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layers...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// store is a registry that notes what it is asked.
type store struct {
	*registrytest.Store

	t      *testing.T
	server *httptest.Server
	// host is its address with the port.
	host string
}

// open starts a registry, with TLS or without.
func open(t *testing.T, start func(http.Handler) *httptest.Server) *store {
	t.Helper()
	s := registrytest.Open(t, start)
	return &store{Store: s, t: t, server: s.Server, host: s.Host}
}

// answer lets the function answer from now on.
func (s *store) answer(before registrytest.Answer) { s.Answer(before) }

// blobs returns how many layers were asked for since the last call.
func (s *store) blobs() int {
	count := 0
	for _, question := range s.Asked() {
		if strings.HasPrefix(question, "GET") && strings.Contains(question, "/blobs/") {
			count++
		}
	}
	return count
}

// push stores an image in the repository tools, and returns its reference.
func (s *store) push(tag string, layers ...v1.Layer) string {
	s.t.Helper()
	ref := s.host + "/tools:" + tag
	if err := remote.Write(s.parse(ref), image(s.t, layers...), remote.WithTransport(s.server.Client().Transport)); err != nil {
		s.t.Fatal(err)
	}
	s.blobs()
	return ref
}

func (s *store) parse(text string) name.Reference {
	s.t.Helper()
	ref, err := name.ParseReference(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

// fetcher is one without containerd, on a machine that has nothing yet.
func fetcher(t *testing.T) *imagefile.Fetcher {
	t.Helper()
	dir := t.TempDir()
	return &imagefile.Fetcher{
		Platform:    v1.Platform{OS: "linux", Architecture: "arm64"},
		Credentials: filepath.Join(dir, "config.json"), Authorities: dir,
		Limits: imagefile.DefaultLimits(),
	}
}

// trust puts the certificate of a registry on a machine.
func trust(t *testing.T, f *imagefile.Fetcher, s *store) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(f.Authorities, "registry.crt"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fetch gets a file, or an error.
func fetch(t *testing.T, f *imagefile.Fetcher, image, path string) (string, error) {
	t.Helper()
	var got bytes.Buffer
	err := f.Fetch(t.Context(), t.TempDir(), imagefile.Ref{Image: image, Path: path}, &got)
	return got.String(), err
}

// refused checks that nothing comes, that the error names the file and the image and says what is wrong, and that it has no secret.
func refused(t *testing.T, reason, got string, err error, want ...string) {
	t.Helper()
	if err == nil || got != "" {
		t.Errorf("%s\nFetch(...): got %q, error %v, want nothing and an error", reason, got, err)
		return
	}
	for _, part := range append(want, "of the image", "/tools") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s\nFetch(...): got error %v, want one with %q", reason, err, part)
		}
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("%s\nFetch(...): the error tells a secret: %v", reason, err)
	}
}

// password is never to be told.
const password = "open-sesame"
