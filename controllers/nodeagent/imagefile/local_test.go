// SPDX-License-Identifier: Apache-2.0

package imagefile_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"k8s.io/apimachinery/pkg/util/wait"
)

// containerd starts one with no image, and returns ctr for it.
func containerd(t *testing.T) []string {
	t.Helper()
	for _, program := range []string{"containerd", "ctr"} {
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skipf("%s is not here, or not for this user", program)
		}
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.toml")
	socket := filepath.Join(dir, "sock")
	text := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		filepath.Join(dir, "root"), filepath.Join(dir, "state"), socket)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "containerd", "--config", config)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() })
	ctr := []string{"ctr", "--address", socket, "--connect-timeout", "30s", "--namespace", "k8s.io"}
	// It refuses connections for a moment when its socket is there, and ctr waits for the socket only.
	var out []byte
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		var err error
		out, err = exec.CommandContext(ctx, ctr[0], append(slices.Clip(ctr[1:]), "version")...).CombinedOutput()
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("containerd does not answer: %v\n%s", err, out)
	}
	return ctr
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// preload brings an image to a machine without a registry.
func preload(t *testing.T, ctr []string, ref string, made v1.Image) {
	t.Helper()
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	if made, err = mutate.ConfigFile(made, config); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := tarball.WriteToFile(file, tag, made); err != nil {
		t.Fatal(err)
	}
	run(t, append(slices.Clip(ctr), "images", "import", "--no-unpack", file)...)
}

// TestImagesOfTheMachine_EXT_OSC_3 takes files from images that containerd has, and asks the registry for the others.
func TestImagesOfTheMachine_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s, f := open(t, httptest.NewServer), fetcher(t)
	remote := s.push("v1", layer(t, text("tool", "of the registry")))
	f.Containerd = containerd(t)
	made := image(t, layer(t, text("tool", "lower"), text("lib", "library")), layer(t, text("tool", "of the machine")))
	preload(t, f.Containerd, "registry.invalid/tools:v1", made)
	preload(t, f.Containerd, "docker.io/library/tools:v1", made)

	for ref, want := range map[string]string{"registry.invalid/tools:v1": "of the machine", "tools:v1": "of the machine", remote: "of the registry"} {
		if got, err := fetch(t, f, ref, "/tool"); got != want || err != nil {
			t.Errorf("Fetch(...) of %s = %q, %v, want the file %s", ref, got, err, want)
		}
	}
	got, err := fetch(t, f, "registry.invalid/tools:v1", "/none")
	refused(t, "an image that the machine has is the image", got, err, "no such file")
	got, err = fetch(t, f, "registry.invalid/tools:v2", "/tool")
	refused(t, "for another one the registry is asked", got, err, "name of the registry is not known")

	// A layer that has gone, as containerd may be told to do without them once they are unpacked.
	s.push("v2", layer(t, text("tool", "of the registry")))
	incomplete := image(t, layer(t, text("tool", "of the machine, which has lost it")))
	preload(t, f.Containerd, s.host+"/tools:v2", incomplete)
	layers, err := incomplete.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	run(t, append(slices.Clip(f.Containerd), "content", "rm", digest.String())...)
	if got, err := fetch(t, f, s.host+"/tools:v2", "/tool"); got != "of the registry" || err != nil {
		t.Errorf("Fetch(...) from half an image = %q, %v, want the file of the registry", got, err)
	}
}

// TestNoContainerd_EXT_OSC_3 has none that answers.
func TestNoContainerd_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s, f := open(t, httptest.NewServer), fetcher(t)
	ref := s.push("v1", layer(t, text("tool", "v1")))
	for _, program := range [][]string{{"/no/such/program"}, {"false"}, {"sh", "-c", "echo error >&2; exit 1"}} {
		f.Containerd = program
		if got, err := fetch(t, f, ref, "/tool"); got != "v1" || err != nil {
			t.Errorf("Fetch(...) with %q = %q, %v, want the file of the registry", program, got, err)
		}
	}
}

// TestContainerdHangs_EXT_OSC_3 has one that takes each request and answers none. The registry still has its time.
func TestContainerdHangs_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	s, f := open(t, httptest.NewServer), fetcher(t)
	ref := s.push("v1", layer(t, text("tool", "v1")))
	f.Containerd, f.Answers = []string{"sh", "-c", "exec sleep 600"}, 100*time.Millisecond
	if got, err := fetch(t, f, ref, "/tool"); got != "v1" || err != nil {
		t.Errorf("Fetch(...) = %q, %v, want the file of the registry", got, err)
	}
}
