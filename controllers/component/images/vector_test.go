// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/component/images"
)

// expectImages looks up the images that are wanted for a version of Kubernetes.
func expectImages(t *testing.T, v *images.Vector, version string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range want {
		ref, err := v.Find(name, version)
		if err != nil {
			t.Error(err)
		}
		got[name] = ref
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images for Kubernetes %s (-want +got):\n%s", version, diff)
	}
}

func TestBuiltInVectorNamesEveryImage(t *testing.T) {
	t.Parallel()
	v, err := images.Load("")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"etcd":                    "registry.k8s.io/etcd:3.6.8-0",
		"kube-apiserver":          "registry.k8s.io/kube-apiserver:v1.36.3",
		"kube-controller-manager": "registry.k8s.io/kube-controller-manager:v1.36.3",
		"kube-scheduler":          "registry.k8s.io/kube-scheduler:v1.36.3",
		"kube-proxy":              "registry.k8s.io/kube-proxy:v1.36.3",
		"pause":                   "registry.k8s.io/pause:3.10.2",
	}
	expectImages(t, v, "1.36.3", want)
}

func TestOverwriteReplacesImagesOneByOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "overwrite.yaml")
	content := "images:\n- name: etcd\n  ref: terrarium.garden/seedling:v1.36.3\n- name: pause\n  repository: mirror.example.com/pause\n  tag: sha256:abc\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := images.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"etcd":           "terrarium.garden/seedling:v1.36.3",
		"pause":          "mirror.example.com/pause@sha256:abc",
		"kube-apiserver": "registry.k8s.io/kube-apiserver:v1.35.1",
	}
	expectImages(t, v, "1.35.1", want)
}

func TestFindTakesTheFirstEntryThatFits(t *testing.T) {
	t.Parallel()
	v, err := images.Parse([]byte(`images:
- {name: hyperkube, repository: a, targetVersion: "< 1.35"}
- {name: hyperkube, repository: b, targetVersion: ">= 1.35, < 1.36"}
`))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ image, version, want, err string }{
		"First":      {image: "hyperkube", version: "1.34.9", want: "a:v1.34.9"},
		"Second":     {image: "hyperkube", version: "1.35.0", want: "b:v1.35.0"},
		"None":       {image: "hyperkube", version: "1.36.0", err: `find image "hyperkube": the image vector has none for Kubernetes 1.36.0`},
		"Unknown":    {image: "etcd", version: "1.36.0", err: `find image "etcd": the image vector does not name it; it has hyperkube`},
		"BadVersion": {image: "hyperkube", version: "new", err: `find image "hyperkube": Kubernetes version "new"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := v.Find(tc.image, tc.version)
			if got != tc.want || (err == nil) != (tc.err == "") || (err != nil && !strings.HasPrefix(err.Error(), tc.err)) {
				t.Errorf("Find(%q, %q) = %q, %v, want %q, %s", tc.image, tc.version, got, err, tc.want, tc.err)
			}
		})
	}
}

func TestDigestPinsAnImage(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0a", 32)
	v, err := images.Parse([]byte(`images:
- {name: etcd, repository: a, tag: 3.6.8-0, digest: "` + digest + `"}
- {name: kube-proxy, repository: b, digest: "` + digest + `", targetVersion: "= 1.36.3"}
- {name: kube-proxy, repository: b}
`))
	if err != nil {
		t.Fatal(err)
	}
	// A digest pins an image even if its tag is moved later, but only for one version.
	expectImages(t, v, "1.36.3", map[string]string{"etcd": "a:3.6.8-0@" + digest, "kube-proxy": "b:v1.36.3@" + digest})
	expectImages(t, v, "1.36.4", map[string]string{"kube-proxy": "b:v1.36.4"})
}

func TestParseRefusesMistakes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ in, want string }{
		"UnknownField": {in: "images: [{name: a, repository: b, tags: c}]", want: `unknown field "images[0].tags"`},
		"NoName":       {in: "images: [{repository: b}]", want: `images[0] (""): name is missing`},
		"NoReference":  {in: "images: [{name: a}]", want: `images[0] ("a"): one of repository and ref is needed`},
		"Both":         {in: "images: [{name: a, ref: b, tag: c}]", want: `images[0] ("a"): ref excludes repository, tag and digest`},
		"RefAndDigest": {in: "images: [{name: a, ref: b, digest: c}]", want: `images[0] ("a"): ref excludes repository, tag and digest`},
		"BadDigest":    {in: "images: [{name: a, repository: b, digest: sha256:abc}]", want: `images[0] ("a"): digest "sha256:abc" is not of the form`},
		"BadTarget":    {in: "images: [{name: a, ref: b, targetVersion: soon}]", want: `images[0] ("a"): targetVersion "soon"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := images.Parse([]byte(tc.in)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse(%q) = %v, want an error with %s", tc.in, err, tc.want)
			}
		})
	}
}

func TestLoadNamesAMissingFile(t *testing.T) {
	t.Parallel()
	_, err := images.Load("/does/not/exist")
	if err == nil || !strings.Contains(err.Error(), "IMAGEVECTOR_OVERWRITE") || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("Load(...) = %v, want an error that names the variable and the file", err)
	}
}
