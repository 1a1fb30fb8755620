// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// shelf is a registry that counts the requests for manifests.
type shelf struct {
	host  string
	asked atomic.Int32
	away  atomic.Bool
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/") {
			s.asked.Add(1)
		}
		if s.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.host = server.Listener.Addr().String()
	return s
}

// push stores an image with one file, and returns the reference.
func (s *shelf) push(t *testing.T, tag, path, data string) string {
	t.Helper()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	if err := writer.WriteHeader(&tar.Header{Name: path, Size: int64(len(data)), Mode: 0o777}); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, static.NewLayer(packed.Bytes(), types.OCIUncompressedLayer))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(s.host + "/tools:" + tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	s.asked.Store(0)
	return ref.String()
}

func fromImage(path, image, inImage string) file {
	return file{Path: path, Permissions: new(uint32(0o750)), Content: gardenextensionsv1alpha1.FileContent{
		ImageRef: &gardenextensionsv1alpha1.FileContentImageRef{Image: image, FilePathInImage: inImage},
	}}
}

// withTool is a configuration with a file of an image, a unit that runs it, and another one.
func withTool(image, inImage, maxPods string) configuration {
	c := kubelet(maxPods)
	c.Files = append(c.Files, fromImage("/opt/bin/tool", image, inImage))
	c.Units = append(c.Units, unit{Name: "tool.service", Content: new("[Service]\nExecStart=/opt/bin/tool\n"), FilePaths: []string{"/opt/bin/tool"}})
	return c
}

func imageMachine(t *testing.T) (*nodeagent.Machine, *supervisor) {
	t.Helper()
	m, units := machine(t)
	m.Images = &imagefile.Fetcher{Limits: imagefile.DefaultLimits()}
	return m, units
}

// TestFilesOfImages_EXT_OSC_3 changes a file of an image in all ways. It is fetched when the image or the path in it changes, or when it is
// not on the machine any more as it was fetched, and not otherwise.
func TestFilesOfImages_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	first, second := s.push(t, "v1", "usr/bin/tool", "first"), s.push(t, "v2", "usr/bin/tool", "second")
	m, units := imageMachine(t)
	tool := filepath.Join(m.Root, "/opt/bin/tool")
	restarted := []string{"restart tool.service"}
	for _, step := range []struct {
		reason  string
		before  func() error
		image   string
		path    string
		want    string
		fetched int32
		units   []string
	}{
		{"it comes", nil, first, "/usr/bin/tool", "first", 1, []string{"restart kubelet.service", "restart other.service", "restart tool.service"}},
		{"nothing has changed", nil, first, "/usr/bin/tool", "first", 0, nil},
		{"another image", nil, second, "/usr/bin/tool", "second", 1, restarted},
		{"another path with the same content", nil, second, "usr/bin/tool", "second", 1, restarted},
		{"a tag that moves is not looked at", func() error { s.push(t, "v2", "usr/bin/tool", "third"); return nil }, second, "usr/bin/tool", "second", 0, nil},
		{"the first image again", nil, first, "/usr/bin/tool", "first", 1, restarted},
		{"somebody has changed it", func() error { return os.WriteFile(tool, []byte("evil"), 0o750) }, first, "/usr/bin/tool", "first", 1, restarted},
		{"somebody has changed its permissions", func() error { return os.Chmod(tool, 0o777) }, first, "/usr/bin/tool", "first", 1, restarted},
		{"somebody has removed it", func() error { return os.Remove(tool) }, first, "/usr/bin/tool", "first", 1, restarted},
		{"somebody has put a link there", func() error {
			return errors.Join(os.Rename(tool, tool+".real"), os.Symlink(tool+".real", tool))
		}, first, "/usr/bin/tool", "first", 1, restarted},
	} {
		if step.before != nil {
			if err := step.before(); err != nil {
				t.Fatal(err)
			}
		}
		s.asked.Store(0)
		apply(t, m, withTool(step.image, step.path, "1"))
		info, err := os.Lstat(tool)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, m, "/opt/bin/tool"); got != step.want || info.Mode() != 0o750 {
			t.Errorf("%s: the file has %q and mode %s, want %q", step.reason, got, info.Mode(), step.want)
		}
		if got := s.asked.Load(); got != step.fetched {
			t.Errorf("%s: the registry was asked for %d manifests, want %d", step.reason, got, step.fetched)
		}
		if diff := cmp.Diff(step.units, units.take()); diff != "" {
			t.Errorf("%s: units (-want +got):\n%s", step.reason, diff)
		}
	}
	apply(t, m, kubelet("1"))
	if got := read(t, m, "/opt/bin/tool"); got != "-" {
		t.Errorf("the file has %q, although it is not part of the configuration any more", got)
	}
	if entries, err := os.ReadDir(filepath.Join(m.Root, m.StateDir)); err != nil || len(entries) != 1 {
		t.Errorf("the folder of the agent has %v, %v, want its state and no layers", entries, err)
	}
}

// TestAnImageThatDoesNotComeHoldsNothingElse_EXT_OSC_3: everything else is applied meanwhile, also the file that the unit has now is left to it.
func TestAnImageThatDoesNotComeHoldsNothingElse_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	first, second := s.push(t, "v1", "tool", "first"), s.push(t, "v2", "tool", "second")
	m, units := imageMachine(t)
	apply(t, m, withTool(first, "/tool", "1"))
	units.take()
	s.away.Store(true)
	for _, want := range [][]string{{"restart kubelet.service"}, nil} {
		err := m.Apply(t.Context(), withTool(second, "/tool", "2"))
		if err == nil {
			t.Fatal("Apply(...) succeeds without the file")
		}
		for _, part := range []string{"/opt/bin/tool", `file "/tool" of the image "` + second + `"`, "status 503"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Apply(...) = %v, want an error with %q", err, part)
			}
		}
		if diff := cmp.Diff(want, units.take()); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
		if tool, config := read(t, m, "/opt/bin/tool"), read(t, m, "/var/lib/kubelet/config"); tool != "first" || config != "maxPods: 2" {
			t.Errorf("the machine has %q and %q, want the file as it was and everything else", tool, config)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(m.Root, "/opt/bin")); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v, want nothing that is unfinished", entries, err)
	}
	if settled, err := m.Settled(withTool(second, "/tool", "2")); settled || err != nil {
		t.Errorf("Settled(...) = %t, %v, although a file is missing", settled, err)
	}
	s.away.Store(false)
	apply(t, m, withTool(second, "/tool", "2"))
	if diff := cmp.Diff([]string{"restart tool.service"}, units.take()); diff != "" || read(t, m, "/opt/bin/tool") != "second" {
		t.Errorf("the file has %q; units (-want +got):\n%s", read(t, m, "/opt/bin/tool"), diff)
	}
}

// slow is a source that looks at what was done before it is asked.
type slow struct {
	imagefile.Source

	asked func()
}

func (s slow) Fetch(ctx context.Context, folder string, of imagefile.Ref, to io.Writer) error {
	s.asked()
	return s.Source.Fetch(ctx, folder, of, to) //nolint:wrapcheck // It is the source.
}

// TestUnitsDoNotWaitForImages_EXT_OSC_3: a registry may take long, and a unit that needs nothing of it has its new files before that.
func TestUnitsDoNotWaitForImages_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	first, second := s.push(t, "v1", "tool", "first"), s.push(t, "v2", "tool", "second")
	m, units := imageMachine(t)
	apply(t, m, withTool(first, "/tool", "1"))
	units.take()
	var before []string
	m.Images = slow{Source: m.Images, asked: func() { before = units.take() }}
	apply(t, m, withTool(second, "/tool", "2"))
	if diff := cmp.Diff([]string{"restart kubelet.service"}, before); diff != "" {
		t.Errorf("units before the image is fetched (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"restart tool.service"}, units.take()); diff != "" {
		t.Errorf("units after that (-want +got):\n%s", diff)
	}
}

// TestUnitsAreTriedOnceAPass_EXT_OSC_3: a unit that does not start does so once in a pass that fetches a file, and again in the next one.
func TestUnitsAreTriedOnceAPass_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	first, second := s.push(t, "v1", "tool", "first"), s.push(t, "v2", "tool", "second")
	m, units := imageMachine(t)
	apply(t, m, withTool(first, "/tool", "1"))
	var tried []string
	units.fails, units.when = "kubelet.service", func(name string) { tried = append(tried, name) }
	for _, want := range [][]string{{"kubelet.service", "tool.service"}, {"kubelet.service"}} {
		if err := m.Apply(t.Context(), withTool(second, "/tool", "2")); !errors.Is(err, errUnit) {
			t.Fatalf("Apply(...) = %v, want that the unit does not start", err)
		}
		if diff := cmp.Diff(want, tried); diff != "" {
			t.Errorf("units that were tried (-want +got):\n%s", diff)
		}
		tried = nil
	}
	units.fails = ""
	apply(t, m, withTool(second, "/tool", "2"))
	if settled, err := m.Settled(withTool(second, "/tool", "2")); !settled || err != nil {
		t.Errorf("Settled(...) = %t, %v", settled, err)
	}
}

// TestTheAgentRetriesImages_EXT_OSC_3: a node reports a configuration only when it has all of its files, and does not ask a registry all the time.
func TestTheAgentRetriesImages_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	c := withTool(s.push(t, "v1", "tool", "first"), "/tool", "1")
	s.away.Store(true)
	scene := newScene(t, c)
	scene.agent.Machine.Images = &imagefile.Patience{Inner: &imagefile.Fetcher{Limits: imagefile.DefaultLimits()}, Clock: scene.clock}
	for range 2 {
		if _, wait, err := scene.agent.Pass(t.Context()); err == nil || wait != 10*time.Second {
			t.Fatalf("Pass(...) = %s, %v, want an error and another pass soon", wait, err)
		}
	}
	if diff := cmp.Diff(state{Has: "maxPods: 1"}, scene.state(t)); diff != "" {
		t.Errorf("without the file (-want +got):\n%s", diff)
	}
	s.away.Store(false)
	if _, _, err := scene.agent.Pass(t.Context()); err == nil || s.asked.Load() != 0 {
		t.Errorf("Pass(...) = %v, and the registry was asked for %d manifests, want that it is left alone for a while", err, s.asked.Load())
	}
	scene.clock.Step(10 * time.Second)
	scene.pass(t)
	if diff := cmp.Diff(state{Reports: nodeagent.Checksum(mustEncode(t, c)), Has: "maxPods: 1"}, scene.state(t)); diff != "" {
		t.Errorf("with the file (-want +got):\n%s", diff)
	}
}

// TestFetchBeforeTheAgent_EXT_OSC_3: what the user data of a machine have fetched is not fetched again, and goes when it is not wanted any more.
func TestFetchBeforeTheAgent_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ref := imagefile.Ref{Image: s.push(t, "v1", "tool", "first"), Path: "/tool"}
	m, _ := imageMachine(t)
	m.StateDir = "/var/lib/gardener-node-agent"
	start, err := nodeagent.Start([]string{"/opt/bin/tool"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(m.Root, start.Path)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, start.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Fetch(t.Context(), nodeagent.File{Path: "/opt/bin/tool", Mode: 0o750, From: &ref}); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, m, withTool(ref.Image, ref.Path, "1"))
	if got := s.asked.Load(); got != 1 || read(t, m, "/opt/bin/tool") != "first" {
		t.Errorf("the file has %q after %d requests for a manifest, want one", read(t, m, "/opt/bin/tool"), got)
	}
	apply(t, m, kubelet("1"))
	if got := read(t, m, "/opt/bin/tool"); got != "-" {
		t.Errorf("the file has %q, although it is not part of the configuration", got)
	}
}

// TestUnusableImages_EXT_OSC_3: what can be no file of an image is told before anything is applied.
func TestUnusableImages_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	both := withTool("example.org/tools:v1", "/tool", "2")
	both.Files[2].Content.Inline = &gardenextensionsv1alpha1.FileContentInline{Data: "x"}
	for name, c := range map[string]configuration{
		"both": both, "no image": withTool("", "/tool", "2"), "no path": withTool("example.org/tools:v1", "", "2"), "a folder": withTool("example.org/tools:v1", "/", "2"),
	} {
		m, units := machine(t)
		apply(t, m, kubelet("1"))
		units.take()
		if err := m.Apply(t.Context(), c); err == nil || !strings.Contains(err.Error(), `file "/opt/bin/tool"`) {
			t.Errorf("%s: Apply(...) = %v, want an error that names the file", name, err)
		}
		if got := read(t, m, "/var/lib/kubelet/config"); got != "maxPods: 1" || units.take() != nil {
			t.Errorf("%s: half of it is applied", name)
		}
	}
}
