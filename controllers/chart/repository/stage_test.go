// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
	"github.com/terrarium-garden/terrarium/controllers/registry/registrytest"
)

const typeChart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

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

// questions returns what was asked since the last call: the method, and whether for a manifest or a blob.
func (s *store) questions() []string {
	var all []string
	for _, question := range s.Asked() {
		for _, part := range []string{"manifests", "blobs"} {
			if method, path, _ := strings.Cut(question, " "); strings.Contains(path, "/"+part+"/") {
				all = append(all, method+" "+part)
			}
		}
	}
	return all
}

// layer is one of the type of charts.
func layer(content string) v1.Layer { return static.NewLayer([]byte(content), typeChart) }

// push stores an artifact with the given layers in the repository charts/demo, and returns its digest.
func (s *store) push(tag string, layers ...v1.Layer) string {
	s.t.Helper()
	artifact := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), "application/vnd.cncf.helm.config.v1+json")
	artifact, err := mutate.AppendLayers(artifact, layers...)
	if err != nil {
		s.t.Fatal(err)
	}
	ref, err := name.ParseReference(s.host + "/charts/demo:" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := remote.Write(ref, artifact, remote.WithTransport(s.server.Client().Transport)); err != nil {
		s.t.Fatal(err)
	}
	digest, err := artifact.Digest()
	if err != nil {
		s.t.Fatal(err)
	}
	s.questions()
	return digest.String()
}

// at names what has a tag in the repository charts/demo.
func (s *store) at(tag string) repository.Source {
	return repository.Source{Repository: gardencorev1.OCIRepository{Repository: new(s.host + "/charts/demo"), Tag: new(tag)}}
}

// authority is the certificate of a registry with TLS.
func (s *store) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
}

// docker is a .dockerconfigjson with credentials of ali for a place.
func docker(t *testing.T, place, given string) []byte {
	t.Helper()
	return dockerOf(t, place, map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("ali:" + given))})
}

func dockerOf(t *testing.T, place string, credentials map[string]string) []byte {
	t.Helper()
	config, err := json.Marshal(map[string]any{"auths": map[string]any{place: credentials, "elsewhere.example.org": map[string]string{"auth": "bm86bm8="}}})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// refused checks that there is no chart, that the error says what to do, and that it has nothing of what must not be told.
func refused(t *testing.T, reason string, err error, want string, secrets ...string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\nPull(...): got error %v, want one with %q", reason, err, want)
		return
	}
	if i := slices.IndexFunc(secrets, func(secret string) bool { return strings.Contains(fmt.Sprintf("%+v", err), secret) }); i >= 0 {
		t.Errorf("%s\nPull(...): the error tells %q: %v", reason, secrets[i], err)
	}
}
