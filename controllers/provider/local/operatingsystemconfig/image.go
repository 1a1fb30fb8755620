// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// fetch is defined in user data that need it. A machine starts without a file that cannot be fetched, as one starts whose registry is away for a
// moment; its agent tries again.
const fetch = `
fetch() {
  /usr/local/bin/terrarium node-agent fetch --path="$1" --mode="$2" --image="$3" --path-in-image="$4" ||
    echo "user data: $1 is missing until the agent of the node has fetched it" >&2
}
`

var (
	errRelative = errors.New("the path is not absolute")
	errSources  = errors.New("it has content from an image and other content as well")
)

// renderImageFiles adds the commands that take files from images. They are behind all other files, which may be certificates and credentials
// of the registries, and before the units, which may need them (EXT-OSC-3).
func renderImageFiles(script *strings.Builder, files []gardenextensionsv1alpha1.File) error {
	fromImage := func(file gardenextensionsv1alpha1.File) bool { return file.Content.ImageRef != nil }
	if slices.ContainsFunc(files, fromImage) {
		script.WriteString(fetch)
	}
	for _, file := range files {
		if !fromImage(file) {
			continue
		}
		if err := renderImageFile(script, file); err != nil {
			return fmt.Errorf("file %q: %w", file.Path, err)
		}
	}
	return nil
}

func renderImageFile(script *strings.Builder, file gardenextensionsv1alpha1.File) error {
	ref := imagefile.Ref{Image: file.Content.ImageRef.Image, Path: file.Content.ImageRef.FilePathInImage}
	switch {
	case !path.IsAbs(file.Path):
		return errRelative
	case file.Content.Inline != nil || file.Content.SecretRef != nil:
		return errSources
	}
	if err := ref.Validate(); err != nil {
		return err //nolint:wrapcheck // It says what is wrong.
	}
	defer onlyOn(script, file.HostName)()
	fmt.Fprintf(script, "\nfetch %s %04o %s %s\n", quote(file.Path), modeOf(file), quote(ref.Image), quote(ref.Path))
	return nil
}
