// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
)

// bootstrapScript stands for debootstrap: it makes a small system, with everything that must not get into an image.
const bootstrapScript = `#!/bin/sh
set -e
echo "$@" >"$CALLS"
while [ $# -gt 2 ]; do shift; done
cd "$1"
mkdir -p etc usr/bin usr/share/doc/tool var/cache/apt var/log dev proc tmp
echo tool >usr/bin/tool
chmod 4755 usr/bin/tool
ln usr/bin/tool usr/bin/same
ln -s tool usr/bin/alias
echo id >etc/machine-id
echo host >etc/hostname
echo doc >usr/share/doc/tool/README
echo cache >var/cache/apt/pkgcache.bin
echo log >var/log/dpkg.log
`

// newBuilder returns a builder whose sources are small files.
func newBuilder(t *testing.T) images.Builder {
	t.Helper()
	dir := t.TempDir()
	source := func(name string) string { return write(t, filepath.Join(dir, name), "program "+name, 0o755) }
	write(t, filepath.Join(dir, "cni", "bridge"), "plugin", 0o755)
	for _, name := range []string{"admission-controller", "recommender", "updater"} {
		write(t, filepath.Join(dir, "vpa", name), "program "+name, 0o755)
	}
	script := strings.ReplaceAll(bootstrapScript, "$CALLS", filepath.Join(dir, "calls"))
	return images.Builder{
		OutDir:   filepath.Join(dir, "out"),
		Only:     images.Names(),
		Versions: images.Versions{Terrarium: "v0.9.0", Kubernetes: "v1.36.3", Programs: "v1"},
		Sources: images.Sources{
			Terrarium: source("terrarium"), Seedling: source("seedling"), Pause: source("pause"), Hello: source("hello"),
			VPA:    filepath.Join(dir, "vpa"),
			Links:  []string{"kubelet", "etcd"},
			CNIDir: filepath.Join(dir, "cni"), MachineInit: []byte("init"), MachineInitPath: "/usr/local/bin/machine-init",
			Rootfs: images.Rootfs{
				Distribution: images.Distribution{Suite: "bookworm", Mirror: "http://mirror", Components: []string{"main"}, Keyring: "/key"},
				Packages:     []string{"runc"}, CacheDir: filepath.Join(dir, "cache"), Progress: func(string) {},
				Debootstrap: write(t, filepath.Join(dir, "debootstrap"), script, 0o755),
			},
		},
	}
}

func TestBuildProgramImages(t *testing.T) {
	t.Parallel()
	builder := newBuilder(t)
	builder.Only = []string{images.Terrarium, images.Pause, images.Hello, images.VPA}
	archives, err := builder.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(builder.OutDir, "terrarium.tar"), filepath.Join(builder.OutDir, "pause.tar"), filepath.Join(builder.OutDir, "hello.tar"), filepath.Join(builder.OutDir, "vpa.tar")}
	if diff := cmp.Diff(want, archives); diff != "" {
		t.Errorf("Only the wanted images are made (-want +got):\n%s", diff)
	}
	contents := contentsOf(t, openImage(t, archives[0], "terrarium.garden/terrarium:v0.9.0"))
	for path, want := range map[string]file{
		"usr/local/bin/terrarium": {Mode: 0o755, Content: "program terrarium"},
		"tmp":                     {Mode: 0o1777},
	} {
		if diff := cmp.Diff(want, contents[path]); diff != "" {
			t.Errorf("A program has what it needs around it; %s (-want +got):\n%s", path, diff)
		}
	}
	hello := contentsOf(t, openImage(t, archives[2], "terrarium.garden/hello:v1"))
	if diff := cmp.Diff(file{Mode: 0o777, Link: "hello"}, hello["usr/local/bin/tar"]); diff != "" {
		t.Errorf("The program for kubectl cp is there (-want +got):\n%s", diff)
	}
	sizers := contentsOf(t, openImage(t, archives[3], "terrarium.garden/vpa:v1"))
	for _, name := range []string{"admission-controller", "recommender", "updater"} {
		if diff := cmp.Diff(file{Mode: 0o755, Content: "program " + name}, sizers[name]); diff != "" {
			t.Errorf("A program is where the upstream image has it; %s (-want +got):\n%s", name, diff)
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(builder.OutDir, ".*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("What was needed on the way is gone; got %q, %v", leftovers, err)
	}
}

func TestBuildMachine(t *testing.T) {
	t.Parallel()
	builder := newBuilder(t)
	builder.Only = []string{images.Seedling, images.Machine}
	archives, err := builder.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seedling := openImage(t, archives[0], "terrarium.garden/seedling:v1.36.3")
	machine := openImage(t, archives[1], "terrarium.garden/machine:v1.36.3")

	if a, b := lowest(t, seedling), lowest(t, machine); a != b {
		t.Errorf("Both images have the big binary as the same lowest layer, so that it is kept once; got %v and %v", a, b)
	}
	contents := contentsOf(t, machine)
	for path, want := range map[string]file{
		"usr/local/bin/seedling":     {Mode: 0o755, Content: "program seedling"},
		"usr/local/bin/kubelet":      {Mode: 0o777, Link: "seedling"},
		"coredns":                    {Mode: 0o777, Link: "usr/local/bin/seedling"},
		"node-cache":                 {Mode: 0o777, Link: "usr/local/bin/seedling"},
		"proxy-server":               {Mode: 0o777, Link: "usr/local/bin/seedling"},
		"proxy-agent":                {Mode: 0o777, Link: "usr/local/bin/seedling"},
		"metrics-server":             {Mode: 0o777, Link: "usr/local/bin/seedling"},
		"usr/local/bin/machine-init": {Mode: 0o755, Content: "init"},
		"opt/cni/bin/bridge":         {Mode: 0o755, Content: "plugin"},
		"etc/machine-id":             {Mode: 0o644},
		"usr/bin/same":               {Mode: 0o4755, Content: "tool\n", Owner: os.Getuid()},
		"usr/bin/tool":               {Mode: 0o4755, Link: "usr/bin/same", Owner: os.Getuid()},
		"usr/bin/alias":              {Mode: 0o777, Link: "tool", Owner: os.Getuid()},
	} {
		if diff := cmp.Diff(want, contents[path]); diff != "" {
			t.Errorf("A machine is a system with the seedling's programs in it; %s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"etc/hostname", "usr/share/doc/tool/README", "var/cache/apt/pkgcache.bin", "var/log/dpkg.log"} {
		if _, found := contents[path]; found {
			t.Errorf("Files that differ between builds or are not needed are left out; found %s", path)
		}
	}
}

// lowest returns the digest of the lowest layer.
func lowest(t *testing.T, image v1.Image) v1.Hash {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].DiffID()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestRootfsIsKept(t *testing.T) {
	t.Parallel()
	rootfs := newBuilder(t).Sources.Rootfs
	var messages []string
	rootfs.Progress = func(message string) { messages = append(messages, message) }
	calls := filepath.Join(filepath.Dir(rootfs.CacheDir), "calls")

	first, err := rootfs.Layer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--force-check-gpg", "--variant=minbase", "--components=main", "--include=runc", "--keyring=/key", "bookworm", "http://mirror"} {
		if !strings.Contains(string(arguments), want) {
			t.Errorf("debootstrap needs the argument %q; it was called with %q", want, arguments)
		}
	}
	if len(messages) != 1 || !strings.Contains(messages[0], "http://mirror") {
		t.Errorf("The progress says what is installed from where; got %q", messages)
	}

	if err := os.Remove(calls); err != nil {
		t.Fatal(err)
	}
	second, err := rootfs.Layer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := first.Digest()
	b, _ := second.Digest()
	if _, err := os.Stat(calls); err == nil || a != b {
		t.Errorf("The second time the same system comes from the cache: %v and %v, called again: %t", a, b, err == nil)
	}

	rootfs.Packages = append(rootfs.Packages, "socat")
	if _, err := rootfs.Layer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(calls); err != nil {
		t.Errorf("Other packages are another system: debootstrap was not called: %v", err)
	}
}

func TestRootfsFailure(t *testing.T) {
	t.Parallel()
	rootfs := newBuilder(t).Sources.Rootfs
	write(t, rootfs.Debootstrap, "#!/bin/sh\necho no such suite >&2\nexit 1\n", 0o755)
	_, err := rootfs.Layer(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no such suite") {
		t.Errorf("The last words of debootstrap are in the error; got %v", err)
	}
	leftovers, err := filepath.Glob(filepath.Join(rootfs.CacheDir, "*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("Nothing half-made is taken for a system the next time; got %q, %v", leftovers, err)
	}
}

func TestBuildFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*images.Builder)
		want   string
	}{
		"unknown image": {
			reason: "A misspelled name is not ignored.",
			change: func(b *images.Builder) { b.Only = []string{"machin"} },
			want:   `unknown image "machin"; the images are seedling, machine, terrarium, pause, hello, vpa`,
		},
		"missing program": {
			reason: "The image and the file are named.",
			change: func(b *images.Builder) { b.Sources.Hello, b.Only = "/nowhere/hello", []string{images.Hello} },
			want:   `image "hello": add "usr/local/bin/hello" to layer: open /nowhere/hello: no such file or directory`,
		},
		"missing plugins": {
			reason: "A machine without network plugins would not work.",
			change: func(b *images.Builder) { b.Sources.CNIDir, b.Only = "/nowhere/cni", []string{images.Machine} },
			want:   `image "machine": list network plugins: open /nowhere/cni: no such file or directory`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			builder := newBuilder(t)
			tc.change(&builder)
			_, err := builder.Build(t.Context())
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nBuild() = %v\nwant %s", tc.reason, err, tc.want)
			}
		})
	}
}
