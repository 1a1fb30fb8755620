// SPDX-License-Identifier: Apache-2.0

package images

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/packaging"
)

// OverwriteVariable names the environment variable with the path of a file that replaces images.
const OverwriteVariable = "IMAGEVECTOR_OVERWRITE"

// Own is the name of the image that this program runs from. It is not in the list but set with WithOwn.
const Own = "terrarium"

// Vector is a list of images. The zero value holds none.
type Vector struct {
	images map[string][]image
	own    string
}

// WithOwn returns the list with the image of this program, which may be empty if it is not known.
func (v *Vector) WithOwn(ref string) *Vector {
	return &Vector{images: v.images, own: ref}
}

type image struct {
	Name string `json:"name"`
	// Repository and Tag form the reference; a missing tag is the version of Kubernetes.
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	// Digest pins the image even if the tag is moved later. An entry with a digest is for one version of Kubernetes, unless its
	// tag is set.
	Digest string `json:"digest,omitempty"`
	// Ref is a complete reference and replaces the three.
	Ref string `json:"ref,omitempty"`
	// TargetVersion limits the entry to versions of Kubernetes.
	TargetVersion string `json:"targetVersion,omitempty"`

	constraint *semver.Constraints
}

type file struct {
	Images []image `json:"images"`
}

// Load returns the built-in list, in which images of the file at overwrite replace those of the same name. An empty path means
// that there is no such file.
func Load(overwrite string) (*Vector, error) {
	v, err := Parse(packaging.ImageVector())
	if err != nil {
		return nil, fmt.Errorf("read the built-in image vector: %w", err)
	}
	if overwrite == "" {
		return v, nil
	}
	data, err := os.ReadFile(overwrite) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the image vector named by %s: %w", OverwriteVariable, err)
	}
	over, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read image vector %q named by %s: %w", overwrite, OverwriteVariable, err)
	}
	maps.Copy(v.images, over.images)
	return v, nil
}

// Parse reads a list in YAML. An unknown field is an error.
func Parse(data []byte) (*Vector, error) {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	var f file
	strict, err := json.UnmarshalStrict(text, &f)
	if err := errors.Join(append(strict, err)...); err != nil {
		return nil, err
	}
	v := &Vector{images: map[string][]image{}}
	for i, entry := range f.Images {
		if err := entry.complete(); err != nil {
			return nil, fmt.Errorf("images[%d] (%q): %w", i, entry.Name, err)
		}
		v.images[entry.Name] = append(v.images[entry.Name], entry)
	}
	return v, nil
}

func (i *image) complete() error {
	switch {
	case i.Name == "":
		return errors.New("name is missing")
	case i.Ref == "" && i.Repository == "":
		return errors.New("one of repository and ref is needed")
	case i.Ref != "" && (i.Repository != "" || i.Tag != "" || i.Digest != ""):
		return errors.New("ref excludes repository, tag and digest")
	case i.Digest != "" && !isDigest(i.Digest):
		return fmt.Errorf("digest %q is not of the form sha256:<64 characters of 0-9 and a-f>", i.Digest)
	case i.TargetVersion == "":
		return nil
	}
	constraint, err := semver.NewConstraint(i.TargetVersion)
	if err != nil {
		return fmt.Errorf("targetVersion %q: %w", i.TargetVersion, err)
	}
	i.constraint = constraint
	return nil
}

// Find returns the reference of an image for a version of Kubernetes, such as 1.36.3. That of Own is empty if it is not known.
func (v *Vector) Find(name, kubernetesVersion string) (string, error) {
	if name == Own {
		return v.own, nil
	}
	version, err := semver.NewVersion(kubernetesVersion)
	if err != nil {
		return "", fmt.Errorf("find image %q: Kubernetes version %q: %w", name, kubernetesVersion, err)
	}
	entries, found := v.images[name]
	if !found {
		return "", fmt.Errorf("find image %q: the image vector does not name it; it has %s", name, strings.Join(slices.Sorted(maps.Keys(v.images)), ", "))
	}
	for _, entry := range entries {
		if entry.constraint == nil || entry.constraint.Check(version) {
			return entry.reference(version), nil
		}
	}
	return "", fmt.Errorf("find image %q: the image vector has none for Kubernetes %s", name, kubernetesVersion)
}

func (i image) reference(version *semver.Version) string {
	if i.Ref != "" {
		return i.Ref
	}
	tag := i.Tag
	if tag == "" {
		tag = "v" + version.String()
	}
	if strings.HasPrefix(tag, "sha256:") {
		return i.Repository + "@" + tag
	}
	if i.Digest != "" {
		return i.Repository + ":" + tag + "@" + i.Digest
	}
	return i.Repository + ":" + tag
}

func isDigest(text string) bool {
	hash, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}
