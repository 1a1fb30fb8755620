// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

var errPath = errors.New("this is not the path of a file in an image")

// Ref names a file of an image.
type Ref struct {
	// Image is the reference of the image, with a tag or a digest.
	Image string `json:"image"`
	// Path is that of the file in the image.
	Path string `json:"path"`
}

// Validate reports an error if there can be no such file.
func (r Ref) Validate() error {
	if _, err := name.ParseReference(r.Image); err != nil {
		return fmt.Errorf("the image %q: %w", r.Image, err)
	}
	if strings.HasSuffix(r.Path, "/") || r.clean() == "/" || strings.ContainsRune(r.Path, 0) {
		return fmt.Errorf("the path %q in the image %q: %w", r.Path, r.Image, errPath)
	}
	return nil
}

// String implements fmt.Stringer.
func (r Ref) String() string { return fmt.Sprintf("file %q of the image %q", r.Path, r.Image) }

func (r Ref) clean() string { return path.Clean("/" + r.Path) }
