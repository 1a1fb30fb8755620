// SPDX-License-Identifier: Apache-2.0

package imagefile_test

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// TestHostileImages_EXT_OSC_3 takes files from images that want to get out, or to cost more than they may.
func TestHostileImages_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	chain := func(n int) []node {
		nodes := []node{text("end", "v1")}
		for i := range n {
			nodes = append(nodes, symlink(fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d", i)))
		}
		return append(nodes, symlink("l0", "end"))
	}
	many := make([]node, 1000)
	for i := range many {
		many[i] = text(fmt.Sprint(i), "")
	}
	limits := func(change func(*imagefile.Limits)) imagefile.Limits {
		l := imagefile.DefaultLimits()
		change(&l)
		return l
	}
	large := layer(t, text("large", strings.Repeat("0", 1<<20)))
	cases := map[string]struct {
		reason string
		layers []v1.Layer
		path   string
		limits imagefile.Limits
		wrong  string
	}{
		"LinkOutside":     {reason: "a link leads into the image, wherever it points to", layers: []v1.Layer{layer(t, symlink("tool", outside))}, path: "tool", wrong: "no such file"},
		"LinkUpOutside":   {reason: "also one that goes up", layers: []v1.Layer{layer(t, symlink("tool", "../../../../../../../.."+outside))}, path: "tool", wrong: "no such file"},
		"HardlinkOutside": {reason: "and a hard one", layers: []v1.Layer{layer(t, hardlink("tool", outside))}, path: "tool", wrong: "no such file"},
		"DownAndUp":       {reason: "where a link leads to must not depend on others", layers: []v1.Layer{layer(t, text("b", "v1"), symlink("tool", "a/../b"))}, path: "tool", wrong: "goes down and up"},
		"LoopOfOne":       {reason: "a link to itself ends", layers: []v1.Layer{layer(t, symlink("tool", "tool"))}, path: "tool", wrong: "more than 40 links"},
		"LoopOfTwo":       {reason: "as one to another does", layers: []v1.Layer{layer(t, symlink("a", "b"), symlink("b", "a"))}, path: "a", wrong: "more than 40 links"},
		"LoopOfFolders":   {reason: "and one through a folder", layers: []v1.Layer{layer(t, symlink("a", "a/b"))}, path: "a/c", wrong: "more than 40 links"},
		"HardLoop":        {reason: "and a hard one", layers: []v1.Layer{layer(t, hardlink("a", "b"), hardlink("b", "a"))}, path: "a", wrong: "more than 40 links"},
		"Chain":           {reason: "a long way is cut", layers: []v1.Layer{layer(t, chain(60)...)}, path: "l60", wrong: "more than 40 links"},
		"Device":          {reason: "a device is no file", layers: []v1.Layer{layer(t, node{name: "tool", kind: tar.TypeBlock})}, path: "tool", wrong: "no regular file"},
		"Terminal":        {reason: "whichever it is", layers: []v1.Layer{layer(t, node{name: "tool", kind: tar.TypeChar})}, path: "tool", wrong: "no regular file"},
		"Pipe":            {reason: "nor is a pipe", layers: []v1.Layer{layer(t, node{name: "tool", kind: tar.TypeFifo})}, path: "tool", wrong: "no regular file"},
		"LinkToDevice":    {reason: "even behind a link", layers: []v1.Layer{layer(t, node{name: "null", kind: tar.TypeChar}, symlink("tool", "null"))}, path: "tool", wrong: "no regular file"},
		"LargeFile":       {reason: "a file has a limit", layers: []v1.Layer{large}, path: "large", limits: limits(func(l *imagefile.Limits) { l.File = 1<<20 - 1 }), wrong: "larger than 0 MiB"},
		"LargeLayer":      {reason: "so have layers", layers: []v1.Layer{large}, path: "large", limits: limits(func(l *imagefile.Limits) { l.Packed = 100 }), wrong: "it is too large"},
		"Bomb":            {reason: "and what they become", layers: []v1.Layer{large}, path: "other", limits: limits(func(l *imagefile.Limits) { l.Unpacked = 10000 }), wrong: "too large when it is unpacked"},
		"Names":           {reason: "and the number of names", layers: []v1.Layer{layer(t, many...)}, path: "tool", limits: limits(func(l *imagefile.Limits) { l.Names = 10000 }), wrong: "too many files"},
		"Garbage":         {reason: "what is no archive is told", layers: []v1.Layer{static.NewLayer([]byte("no archive at all"), types.OCILayer)}, path: "tool", wrong: "cannot be read"},
		"GarbageInside":   {reason: "at any depth", layers: []v1.Layer{static.NewLayer(gzipped(t, []byte(strings.Repeat("x", 2000))), types.OCILayer)}, path: "tool", wrong: "cannot be read"},
		"Cut":             {reason: "half an archive is none", layers: []v1.Layer{static.NewLayer(gzipped(t, archive(t, text("tool", "v1")))[:40], types.OCILayer)}, path: "tool", wrong: "cannot be read"},
		"NoLayer":         {reason: "an artifact is no image", layers: []v1.Layer{static.NewLayer([]byte("chart"), "application/vnd.cncf.helm.chart.content.v1.tar+gzip")}, path: "tool", wrong: "something that is no layer"},
		"NoLayers":        {reason: "nothing is no image", path: "tool", wrong: "no layers"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fetcher(t)
			if tc.limits != (imagefile.Limits{}) {
				f.Limits = tc.limits
			}
			got, err := fetch(t, f, s.push(name, tc.layers...), tc.path)
			refused(t, tc.reason, got, err, tc.wrong)
		})
	}
}

// TestNamesStayInTheImage_EXT_OSC_3: names that lead up are names in the root, and nothing but packed layers gets into the folder.
func TestNamesStayInTheImage_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	above := t.TempDir()
	folder := filepath.Join(above, "layers")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	ref := s.push("v1", layer(t, text("../../tool", "v1"), text("/etc/passwd", "v2"), text("../evil", "v3")))
	var got strings.Builder
	if err := fetcher(t).Fetch(t.Context(), folder, imagefile.Ref{Image: ref, Path: "../../../tool"}, &got); err != nil || got.String() != "v1" {
		t.Errorf("Fetch(...) = %q, %v, want the file in the root of the image", got.String(), err)
	}
	for path, want := range map[string]int{above: 1, folder: 1} {
		if entries, err := os.ReadDir(path); err != nil || len(entries) != want {
			t.Errorf("the folder %s has %v, %v, want one entry", path, entries, err)
		}
	}
}

// TestHostileRegistries_EXT_OSC_3 fetches from registries that send something else than what they should.
func TestHostileRegistries_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	inside := open(t, httptest.NewServer)
	ref := s.push("v1", layer(t, text("tool", "v1")))
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, password, code) }
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for range 10 << 10 {
			if _, err := w.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	}
	layers := func(text string) string { return `{"schemaVersion":2,"layers":[` + text + `]}` }
	one := `{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:` + strings.Repeat("0", 64) + `","size":`
	list := `{"platform":{"os":"linux","architecture":"arm64"},"mediaType":"application/vnd.oci.image.index.v1+json","size":10,"digest":"sha256:` + strings.Repeat("0", 64) + `"}`
	cases := map[string]struct {
		reason string
		part   string
		answer http.HandlerFunc
		want   string
	}{
		"OtherLayer":      {reason: "a layer has the digest of the manifest", part: "/blobs/", answer: says("evil"), want: "another digest"},
		"EndlessLayer":    {reason: "and its size", part: "/blobs/", answer: endless, want: "another digest"},
		"EndlessManifest": {reason: "no answer is endless", part: "/manifests/", answer: endless, want: "more than it has announced"},
		"NoManifest":      {reason: "what is no manifest is told", part: "/manifests/", answer: says("<html>"), want: "manifest cannot be read"},
		"Both":            {reason: "a manifest is one thing", part: "/manifests/", answer: says(`{"schemaVersion":2,"layers":[` + one + `10}],"manifests":[` + list + `]}`), want: "manifest cannot be read"},
		"OldManifest":     {reason: "manifests without digests are not read", part: "/manifests/", answer: says(`{"schemaVersion":1,"fsLayers":[{"blobSum":"sha256:0"}]}`), want: "manifest cannot be read"},
		"ListOfItself":    {reason: "what a list names has its digest", part: "/manifests/", answer: says(`{"schemaVersion":2,"manifests":[` + list + `]}`), want: "another digest"},
		"NegativeLayer":   {reason: "a size is one", part: "/manifests/", answer: says(layers(one + `-10}`)), want: "no layer of one"},
		"HugeLayer":       {reason: "a large layer is not asked for", part: "/manifests/", answer: says(layers(one + `9000000000000000000}`)), want: "it is too large"},
		"ManyLayers":      {reason: "nor are many", part: "/manifests/", answer: says(layers(one + `10}` + strings.Repeat(","+one+"10}", 300))), want: "more than 256"},
		"Missing":         {reason: "what is missing is told", part: "/manifests/", answer: status(http.StatusNotFound), want: "does not have it"},
		"Denied":          {reason: "what is denied may need credentials", part: "/manifests/", answer: status(http.StatusForbidden), want: "config.json"},
		"Broken":          {reason: "a failure is told without its text", part: "/v2/", answer: status(http.StatusServiceUnavailable), want: "status 503"},
		"Inside": {reason: "a registry with TLS cannot make a machine ask something without", part: "/blobs/", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.server.URL+"/latest/meta-data/?secret="+password, http.StatusTemporaryRedirect)
		}, want: "a place that is not trusted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front, f := open(t, httptest.NewTLSServer), fetcher(t)
			trust(t, f, front)
			front.answer(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, tc.part) {
					tc.answer(w, r)
				} else {
					s.server.Config.Handler.ServeHTTP(w, r)
				}
				return true
			})
			got, err := fetch(t, f, strings.Replace(ref, s.host, front.host, 1), "/tool")
			refused(t, tc.reason, got, err, tc.want)
		})
	}
	t.Cleanup(func() {
		if asked := inside.Asked(); len(asked) > 0 {
			t.Errorf("what is inside was asked %v", asked)
		}
	})
}

// TestCredentials_EXT_OSC_3 fetches from a registry that wants a name and a password, and repeats what it is sent.
func TestCredentials_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	ref := s.push("v1", layer(t, text("tool", "v1")))
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		user, given, _ := r.BasicAuth()
		if user == "ali" && given == password {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="tools"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"`+given+" "+r.Header.Get("Authorization")+`"}]}`, http.StatusUnauthorized)
		return true
	})
	config := func(place, given string) string {
		return `{"auths":{"` + place + `":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("ali:"+given)) + `"}}}`
	}
	cases := map[string]struct{ reason, config, want string }{
		"Right":     {reason: "the kubelet's credentials count", config: config(s.host, password)},
		"Wrong":     {reason: "the registry refuses others", config: config(s.host, password+"2"), want: "refuses the credentials of /"},
		"Elsewhere": {reason: "credentials of others are not sent", config: config("example.org", password), want: "wants credentials"},
		"NoJSON":    {reason: "what is no configuration is not shown", config: password, want: "no configuration of docker"},
		"None":      {reason: "where credentials belong is told", want: "put some into /"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fetcher(t)
			if tc.config != "" {
				if err := os.WriteFile(f.Credentials, []byte(tc.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := fetch(t, f, ref, "/tool")
			if tc.want != "" {
				refused(t, tc.reason, got, err, tc.want)
				return
			}
			if got != "v1" || err != nil {
				t.Errorf("%s\nFetch(...) = %q, %v, want the file", tc.reason, got, err)
			}
		})
	}
}

// TestTrust_EXT_OSC_3 gives a machine the certificate of a registry while the agent runs.
func TestTrust_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s, f := open(t, httptest.NewTLSServer), fetcher(t)
	ref := s.push("v1", layer(t, text("tool", "v1")))
	got, err := fetch(t, f, ref, "/tool")
	refused(t, "nobody is trusted without a reason", got, err, "caBundle of the worker pool")
	trust(t, f, s)
	if got, err := fetch(t, f, ref, "/tool"); got != "v1" || err != nil {
		t.Errorf("Fetch(...) = %q, %v, want the file", got, err)
	}
}

// TestEnd_EXT_OSC_3 ends a fetch from outside.
func TestEnd_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	ctx, cancel := context.WithCancel(t.Context())
	s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	var got strings.Builder
	if err := fetcher(t).Fetch(ctx, t.TempDir(), imagefile.Ref{Image: s.host + "/tools:v1", Path: "/tool"}, &got); !errors.Is(err, context.Canceled) {
		t.Errorf("Fetch(...) from a registry that does not answer: got error %v, want that of the context", err)
	}
}
