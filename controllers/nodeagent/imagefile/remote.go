// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

// userAgent is how the client introduces itself.
const userAgent = "gardener-node-agent"

// registrySource has the images of a registry.
type registrySource struct {
	repository name.Repository
	transport  *registry.Transport
	puller     *remote.Puller
	hints      registry.Hints
}

func (f *Fetcher) newRegistrySource(image name.Reference) (*registrySource, error) {
	roots, err := f.roots()
	if err != nil {
		return nil, err
	}
	credentials, known, err := f.credentials(image.Context())
	if err != nil {
		return nil, err
	}
	transport := registry.NewTransport(registry.Config{Registry: image.Context().Registry, Roots: roots, Limit: maxManifest})
	// It is the caller that tries again.
	puller, err := remote.NewPuller(
		remote.WithAuth(credentials), remote.WithTransport(transport), remote.WithUserAgent(userAgent),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}), remote.WithRetryStatusCodes(),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the client of the registry: %w", err)
	}
	s := &registrySource{repository: image.Context(), transport: transport, puller: puller, hints: registry.Hints{
		GiveCredentials: "put some into " + f.Credentials, Trust: "add the certificate of its authority to caBundle of the worker pool",
		TooMany: "it is asked again later", TooLarge: "it sends more than it has announced", Timeout: Timeout,
	}}
	if known {
		s.hints.Credentials = f.Credentials
	}
	return s, nil
}

// credentials are those that the kubelet of the machine has, too.
func (f *Fetcher) credentials(repository name.Repository) (authn.Authenticator, bool, error) {
	config, err := os.ReadFile(f.Credentials)
	if errors.Is(err, fs.ErrNotExist) {
		return authn.Anonymous, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the credentials for registries: %w", err)
	}
	credentials, known, err := registry.Credentials(config, repository)
	if err != nil {
		return nil, false, fmt.Errorf("%s %w", f.Credentials, err)
	}
	return credentials, known, nil
}

// roots are read anew each time: the machine may have been given others since the agent runs.
func (f *Fetcher) roots() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the authorities of the system: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(f.Authorities, "*.crt"))
	if err != nil {
		return nil, fmt.Errorf("find the authorities of the machine: %w", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // The folder is that of the configuration of the machine.
		if err != nil {
			return nil, fmt.Errorf("read the authorities of the machine: %w", err)
		}
		pool.AppendCertsFromPEM(data)
	}
	return pool, nil
}

func (s *registrySource) manifest(ctx context.Context, ref name.Reference) ([]byte, error) {
	found, err := s.puller.Get(ctx, ref)
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller explains it.
	}
	return found.Manifest, nil
}

func (s *registrySource) layer(ctx context.Context, layer v1.Descriptor) (io.ReadCloser, error) {
	s.transport.Limit(max(layer.Size, maxManifest))
	blob, err := s.puller.Layer(ctx, s.repository.Digest(layer.Digest.String()))
	if err != nil {
		return nil, err //nolint:wrapcheck // The caller explains it.
	}
	return blob.Compressed() //nolint:wrapcheck // The caller explains it.
}

func (s *registrySource) explain(err error) error { return registry.Explain(err, s.hints) }

func (s *registrySource) close() { s.transport.Close() }
