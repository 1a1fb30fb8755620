// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
)

// TestPull_EXT_REG_7 names a chart in all ways in which it can be named, and loads what comes.
func TestPull_EXT_REG_7(t *testing.T) {
	t.Parallel()
	packed, err := chart.Pack("demo", fstest.MapFS{"Chart.yaml": {Data: []byte("apiVersion: v2\nname: demo\nversion: 0.1.0\n")}})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, httptest.NewServer)
	digest := s.push("v1", layer(string(packed)), static.NewLayer([]byte("signature"), "application/vnd.cncf.helm.chart.provenance.v1.prov"))
	s.push("v2", layer("another chart"))
	name := s.host + "/charts/demo"
	cases := map[string]struct {
		reason string
		from   gardencorev1.OCIRepository
	}{
		"Ref":            {reason: "ref is the whole name", from: gardencorev1.OCIRepository{Ref: new(name + ":v1")}},
		"RefWithScheme":  {reason: "the prefix that helm uses is allowed", from: gardencorev1.OCIRepository{Ref: new("oci://" + name + ":v1")}},
		"RefWithDigest":  {reason: "ref may have a digest", from: gardencorev1.OCIRepository{Ref: new(name + "@" + digest)}},
		"Tag":            {reason: "the tag names a version", from: gardencorev1.OCIRepository{Repository: &name, Tag: new("v1")}},
		"Digest":         {reason: "the digest names a version", from: gardencorev1.OCIRepository{Repository: &name, Digest: &digest}},
		"DigestAndTag":   {reason: "the digest wins over the tag", from: gardencorev1.OCIRepository{Repository: &name, Tag: new("v2"), Digest: &digest}},
		"DigestAndNoTag": {reason: "nobody looks whether the tag exists then", from: gardencorev1.OCIRepository{Repository: &name, Tag: new("none"), Digest: &digest}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := new(repository.Charts).Pull(t.Context(), repository.Source{Repository: tc.from})
			if err != nil {
				t.Fatalf("%s\nPull(...): %v", tc.reason, err)
			}
			loaded, err := chart.Load(got)
			if err != nil || loaded.Name() != "demo" {
				t.Errorf("%s\nLoad(...) of what was pulled: got %v, error %v, want chart demo", tc.reason, loaded, err)
			}
		})
	}
}

// TestKeeps_EXT_REG_7 counts what a registry is asked.
func TestKeeps_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	digest := s.push("v1", layer("first"))
	charts := &repository.Charts{}
	pull := func(from repository.Source, want string, questions ...string) {
		t.Helper()
		got, err := charts.Pull(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("Pull(...) (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(questions, s.questions()); diff != "" {
			t.Errorf("questions to the registry (-want +got):\n%s", diff)
		}
	}
	byDigest := repository.Source{Repository: gardencorev1.OCIRepository{Repository: new(s.host + "/charts/demo"), Digest: &digest}}

	pull(s.at("v1"), "first", "HEAD manifests", "GET manifests", "GET blobs")
	pull(s.at("v1"), "first", "HEAD manifests")
	pull(byDigest, "first")
	s.push("v1", layer("second"))
	pull(s.at("v1"), "second", "HEAD manifests", "GET manifests", "GET blobs")
	pull(byDigest, "first")

	// A registry that tells no digest for a tag is asked for the manifest.
	s.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return r.Method == http.MethodHead
	})
	pull(s.at("v1"), "second", "HEAD manifests", "GET manifests", "GET blobs")
}

// TestBound_EXT_REG_7 pulls more than is kept: the chart that was used least recently goes.
func TestBound_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	charts := &repository.Charts{}
	var all []repository.Source
	pull := func(from repository.Source) []string {
		t.Helper()
		if _, err := charts.Pull(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		return s.questions()
	}
	for i := range 5 {
		digest := s.push("v1", layer(strings.Repeat(fmt.Sprint(i), repository.MaxChart)))
		all = append(all, repository.Source{Repository: gardencorev1.OCIRepository{Repository: new(s.host + "/charts/demo"), Digest: &digest}})
		pull(all[0])
		pull(all[i])
	}
	got := map[string]int{"used": len(pull(all[0])), "last": len(pull(all[4])), "oldest": len(pull(all[1]))}
	if diff := cmp.Diff(map[string]int{"used": 0, "last": 0, "oldest": 2}, got); diff != "" {
		t.Errorf("questions about charts after five of the largest size were pulled (-want +got):\n%s", diff)
	}
}

// TestApart_EXT_REG_7 asks another repository for what is kept of the first.
func TestApart_EXT_REG_7(t *testing.T) {
	t.Parallel()
	first, second := open(t, httptest.NewServer), open(t, httptest.NewServer)
	digest := first.push("v1", layer("private"))
	charts := &repository.Charts{}
	if _, err := charts.Pull(t.Context(), first.at("v1")); err != nil {
		t.Fatal(err)
	}
	_, err := charts.Pull(t.Context(), repository.Source{Repository: gardencorev1.OCIRepository{Ref: new(second.host + "/charts/demo@" + digest)}})
	refused(t, "what one repository has does not come for another", err, "the registry does not have it")
}

// TestContent_EXT_REG_7 stores what is no chart.
func TestContent_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	other := static.NewLayer([]byte("program"), "application/vnd.oci.image.layer.v1.tar+gzip")
	for tag, tc := range map[string]struct {
		layers []v1.Layer
		want   string
	}{
		"none":  {want: "0 of its 0 layers have the type application/vnd.cncf.helm.chart.content.v1.tar+gzip"},
		"image": {layers: []v1.Layer{other}, want: "0 of its 1 layers have the type"},
		"two":   {layers: []v1.Layer{layer("a"), layer("b")}, want: "2 of its 2 layers have the type"},
		"large": {layers: []v1.Layer{layer(strings.Repeat("x", repository.MaxChart+1))}, want: "larger than 10 MiB"},
	} {
		s.push(tag, tc.layers...)
		_, err := new(repository.Charts).Pull(t.Context(), s.at(tag))
		refused(t, "an artifact with exactly one chart of a bounded size is a chart: "+tag, err, tc.want)
		if questions := s.questions(); cmp.Diff([]string{"HEAD manifests", "GET manifests"}, questions) != "" {
			t.Errorf("%s: the registry was asked %v, want no question for the layer", tag, questions)
		}
	}
}

// TestNames_EXT_REG_7 names no chart at all. Trying again does not help.
func TestNames_EXT_REG_7(t *testing.T) {
	t.Parallel()
	for _, from := range []gardencorev1.OCIRepository{
		{}, {Ref: new("https://example.org/demo")}, {Ref: new("example.org/Demo:v1")}, {Repository: new("example.org/demo"), Digest: new("sha256:abc")},
	} {
		if _, err := new(repository.Charts).Pull(t.Context(), repository.Source{Repository: from}); !errors.Is(err, repository.ErrInvalid) {
			t.Errorf("Pull(...) of %+v: got error %v, want ErrInvalid", from, err)
		}
	}
}

// TestEnd_EXT_REG_7 ends a pull from outside.
func TestEnd_EXT_REG_7(t *testing.T) {
	t.Parallel()
	s := open(t, httptest.NewServer)
	ctx, cancel := context.WithCancel(t.Context())
	s.answer(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if _, err := new(repository.Charts).Pull(ctx, s.at("v1")); !errors.Is(err, context.Canceled) {
		t.Errorf("Pull(...) of a registry that does not answer: got error %v, want that of the context", err)
	}
}
