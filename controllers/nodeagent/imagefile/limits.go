// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"fmt"
	"io"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

const (
	mebi = 1 << 20
	// maxManifest is the size of the largest manifest, and of everything else that a registry says and that is no layer.
	maxManifest = 4 * mebi
	// maxLayers is how many layers an image may have, maxLinks how many links may lead to a file.
	maxLayers = 256
	maxLinks  = 40
	// maxWindow is how much of what was unpacked before a layer may refer to.
	maxWindow = 32 * mebi
)

// Limits are bounds in bytes.
type Limits struct {
	// File is the size of the largest file that is taken.
	File int64
	// Packed is the size of all layers that are looked at as they come, Unpacked that of their content.
	Packed, Unpacked int64
	// Names is the length of all names and links in them.
	Names int
}

// DefaultLimits are those of images that are used for something else, too.
func DefaultLimits() Limits {
	return Limits{File: 512 * mebi, Packed: 1024 * mebi, Unpacked: 8 * 1024 * mebi, Names: 64 * mebi}
}

// problem is an error that lasts as long as the image is the same.
func problem(format string, args ...any) *registry.PullError {
	return &registry.PullError{Text: fmt.Sprintf(format, args...)}
}

// bounded reads no more than what is left.
type bounded struct {
	inner io.Reader
	left  *int64
	err   error
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if *b.left <= 0 {
		return 0, b.err
	}
	if int64(len(p)) > *b.left {
		p = p[:*b.left]
	}
	n, err := b.inner.Read(p)
	*b.left -= int64(n)
	return n, err //nolint:wrapcheck // A reader passes on io.EOF as it is.
}
