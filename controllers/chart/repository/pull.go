// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/terrarium-garden/terrarium/controllers/registry"
)

// typeChart is the media type of the layer with the packed chart.
const typeChart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// userAgent is how the client introduces itself.
const userAgent = "terrarium"

// pull is one pull of one chart.
type pull struct {
	ref       name.Reference
	transport *registry.Transport
	puller    *remote.Puller
	// known reports whether there are credentials.
	known bool
}

func newPull(ref name.Reference, from Source) (*pull, error) {
	transport, err := newTransport(ref.Context().Registry, from.Authorities)
	if err != nil {
		return nil, err
	}
	credentials, err := credentialsFor(from.Credentials, ref.Context())
	if err != nil {
		return nil, err
	}
	// The caller tries again after a failure, so it is told at once.
	puller, err := remote.NewPuller(
		remote.WithAuth(credentials), remote.WithTransport(transport), remote.WithUserAgent(userAgent),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}), remote.WithRetryStatusCodes(),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the client of the registry: %w", err)
	}
	return &pull{ref: ref, transport: transport, puller: puller, known: credentials != authn.Anonymous}, nil
}

func (p *pull) close() { p.transport.Close() }

// resolve returns the digest that a tag has now. It asks for the headers only: public registries count how often a client asks for
// manifests. The digest is empty if the registry does not tell it; the request for the manifest says why.
func (p *pull) resolve(ctx context.Context) name.Digest {
	if digest, ok := p.ref.(name.Digest); ok {
		return digest
	}
	head, err := p.puller.Head(ctx, p.ref)
	if err != nil {
		return name.Digest{}
	}
	return p.ref.Context().Digest(head.Digest.String())
}

// chart downloads the chart that is behind the reference, and returns the digest of its manifest.
func (p *pull) chart(ctx context.Context) (name.Digest, []byte, error) {
	found, err := p.puller.Get(ctx, p.ref)
	if err != nil {
		return name.Digest{}, nil, err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(found.Manifest))
	if err != nil {
		return name.Digest{}, nil, &registry.PullError{Text: "what is there is no chart, because its manifest cannot be read"}
	}
	layer, err := layerOf(manifest)
	if err != nil {
		return name.Digest{}, nil, err
	}
	data, err := p.download(ctx, layer)
	return p.ref.Context().Digest(found.Digest.String()), data, err
}

// layerOf returns the one layer with the chart. There may be others, such as a signature.
func layerOf(manifest *v1.Manifest) (v1.Descriptor, error) {
	var charts []v1.Descriptor
	for _, layer := range manifest.Layers {
		if layer.MediaType == typeChart {
			charts = append(charts, layer)
		}
	}
	switch {
	case len(charts) != 1:
		return v1.Descriptor{}, &registry.PullError{Text: fmt.Sprintf("what is there is no chart, because %d of its %d layers have the type %s, and it has to be one",
			len(charts), len(manifest.Layers), typeChart)}
	case charts[0].Size > MaxChart:
		return v1.Descriptor{}, tooLarge()
	default:
		return charts[0], nil
	}
}

// download reads a layer. The library checks that it is the one of the manifest, and the transport that it is not too large.
func (p *pull) download(ctx context.Context, layer v1.Descriptor) ([]byte, error) {
	blob, err := p.puller.Layer(ctx, p.ref.Context().Digest(layer.Digest.String()))
	if err != nil {
		return nil, err
	}
	stream, err := blob.Compressed()
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	return io.ReadAll(stream)
}
