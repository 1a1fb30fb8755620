// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Fetcher gets files from images that the machine has, and from registries.
type Fetcher struct {
	// Platform is that of the machine.
	Platform v1.Platform
	// Containerd is the program ctr that lists and reads the images of the machine. Without one only registries are asked.
	Containerd []string
	// Answers is how long Containerd may take to say what an image consists of; half a minute when unset. After that the registry is asked: a
	// containerd that hangs must not use up the time for that.
	Answers time.Duration
	// Credentials is the place of a .dockerconfigjson. There need not be one.
	Credentials string
	// Authorities is the folder with certificates that are trusted in addition to those of the system, in files *.crt.
	Authorities string
	// Limits are the bounds for one image.
	Limits Limits
}

// source has images.
type source interface {
	// manifest returns the manifest, or the list of them, that a reference has.
	manifest(ctx context.Context, ref name.Reference) ([]byte, error)
	// layer returns a layer as it is stored. The caller looks whether it is the one.
	layer(ctx context.Context, layer v1.Descriptor) (io.ReadCloser, error)
	// explain replaces an error by one that can be shown.
	explain(err error) error
	// close gives back what the source needs to answer.
	close()
}

// errIncomplete marks images that a source does not have, or not as a whole.
var errIncomplete = errors.New("the machine does not have the whole image")

var _ Source = &Fetcher{}

// Fetch implements Source. Layers are kept in the folder, which has to exist, and are not fetched again as long as they are there. An error
// says what is wrong with which file of which image, without anything that a registry says and without credentials (EXT-OSC-3).
func (f *Fetcher) Fetch(ctx context.Context, folder string, ref Ref, to io.Writer) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	if err := f.fetch(ctx, folder, ref, to); err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	return nil
}

func (f *Fetcher) fetch(ctx context.Context, folder string, ref Ref, to io.Writer) error {
	image, err := name.ParseReference(ref.Image)
	if err != nil {
		return err //nolint:wrapcheck // It has the reference.
	}
	content, err := f.open(ctx, image, folder, ref.clean())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	return errors.Join(err, content.Close())
}

// open returns the content of a file, which is in the folder as a whole by then.
func (f *Fetcher) open(ctx context.Context, image name.Reference, folder, path string) (io.ReadCloser, error) {
	if len(f.Containerd) > 0 {
		from := &machineSource{program: f.Containerd, answers: cmp.Or(f.Answers, defaultAnswers)}
		content, err := f.openFrom(ctx, from, &tree{image: image, folder: folder}, path)
		if !errors.Is(err, errIncomplete) {
			return content, err
		}
	}
	from, err := f.newRegistrySource(image)
	if err != nil {
		return nil, err
	}
	return f.openFrom(ctx, from, &tree{image: image, folder: folder}, path)
}

func (f *Fetcher) openFrom(ctx context.Context, from source, t *tree, path string) (io.ReadCloser, error) {
	defer from.close()
	t.from, t.limits = from, f.Limits
	content, err := t.open(ctx, f.Platform, path)
	switch {
	case err == nil:
		return content, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err() //nolint:wrapcheck // It is the caller's own.
	default:
		return nil, from.explain(err) //nolint:wrapcheck // It is made here.
	}
}
