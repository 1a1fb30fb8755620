// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

// lastWords is how long the output of a program is read after its end.
const lastWords = 5 * time.Second

// defaultAnswers is how long containerd may take to say what an image consists of. It may take longer to read a layer.
const defaultAnswers = 30 * time.Second

// machineSource has the images that the machine has pulled, or that it was started with.
type machineSource struct {
	// program is ctr with its options.
	program []string
	// answers is how long it may take to return a manifest.
	answers time.Duration
}

func (s *machineSource) manifest(ctx context.Context, ref name.Reference) ([]byte, error) {
	ctx, end := context.WithTimeout(ctx, s.answers)
	defer end()
	digest, err := s.digest(ctx, ref)
	if err != nil {
		return nil, err
	}
	content, err := s.blob(ctx, digest)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(content, maxManifest))
	return data, errors.Join(err, content.Close())
}

// digest is the one that the machine has for an image.
func (s *machineSource) digest(ctx context.Context, ref name.Reference) (string, error) {
	if digest, ok := ref.(name.Digest); ok {
		return digest.DigestStr(), nil
	}
	list, err := s.run(ctx, "images", "ls", fmt.Sprintf("name==%q", nameOf(ref)))
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(list, maxManifest))
	if err = errors.Join(err, list.Close()); err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == nameOf(ref) {
			return fields[2], nil
		}
	}
	return "", errIncomplete
}

// nameOf is how containerd calls an image. The library has another name for the registry of images without one.
func nameOf(ref name.Reference) string {
	return strings.Replace(ref.Name(), name.DefaultRegistry+"/", "docker.io/", 1)
}

func (s *machineSource) layer(ctx context.Context, layer v1.Descriptor) (io.ReadCloser, error) {
	return s.blob(ctx, layer.Digest.String())
}

func (s *machineSource) blob(ctx context.Context, digest string) (io.ReadCloser, error) {
	if _, err := v1.NewHash(digest); err != nil {
		return nil, errIncomplete
	}
	return s.run(ctx, "content", "get", digest)
}

// run starts a program and returns what it writes. That the program has failed is said at the end of it.
func (s *machineSource) run(ctx context.Context, args ...string) (io.ReadCloser, error) {
	command := exec.CommandContext(ctx, s.program[0], append(s.program[1:len(s.program):len(s.program)], args...)...) //nolint:gosec // It is an option of the agent.
	command.WaitDelay = lastWords
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIncomplete, err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return &output{Reader: out, command: command}, nil
}

// output is what a program writes.
type output struct {
	io.Reader

	command *exec.Cmd
}

// Close implements io.Closer. What has not been read is of no interest.
func (o *output) Close() error {
	_, err := io.Copy(io.Discard, o.Reader)
	if err = errors.Join(err, o.command.Wait()); err != nil {
		return fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return nil
}

// explain leaves what leads to the registry as it is.
func (*machineSource) explain(err error) error {
	if _, is := errors.AsType[*registry.PullError](err); is && !errors.Is(err, errIncomplete) {
		return err
	}
	return errIncomplete
}

func (*machineSource) close() {}
