// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// manifest is a manifest, or a list of them.
type manifest struct {
	SchemaVersion int64           `json:"schemaVersion"`
	Manifests     []v1.Descriptor `json:"manifests"`
	Layers        []v1.Descriptor `json:"layers"`
}

// layersOf returns the layers of an image for a platform, the lowest one first.
func layersOf(ctx context.Context, from source, ref name.Reference, platform v1.Platform) ([]v1.Descriptor, error) {
	m, err := manifestOf(ctx, from, ref)
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) > 0 {
		digest, found := choose(m.Manifests, platform)
		if !found {
			return nil, problem("the image is not there for the platform %s", platform)
		}
		if m, err = manifestOf(ctx, from, ref.Context().Digest(digest.String())); err != nil {
			return nil, err
		}
	}
	if len(m.Layers) == 0 || len(m.Layers) > maxLayers {
		return nil, problem("what is there is no image, or one with no layers or more than %d", maxLayers)
	}
	for _, layer := range m.Layers {
		if !layer.MediaType.IsLayer() || layer.Size < 0 {
			return nil, problem("what is there is no image: it has something that is no layer of one")
		}
	}
	return m.Layers, nil
}

func manifestOf(ctx context.Context, from source, ref name.Reference) (manifest, error) {
	data, err := from.manifest(ctx, ref)
	if err != nil {
		return manifest{}, err //nolint:wrapcheck // The caller explains it.
	}
	if digest, ok := ref.(name.Digest); ok {
		if sum, _, err := v1.SHA256(bytes.NewReader(data)); err != nil || sum.String() != digest.DigestStr() {
			return manifest{}, problem("its manifest has another digest")
		}
	}
	m := manifest{}
	if json.Unmarshal(data, &m) != nil || m.SchemaVersion != 2 || len(m.Manifests) > 0 && len(m.Layers) > 0 {
		return manifest{}, problem("what is there is no image, because its manifest cannot be read")
	}
	return m, nil
}

// choose returns the manifest for a platform: the first one, as for containers. A machine can use what is for any variant of its architecture
// that is not named.
func choose(manifests []v1.Descriptor, platform v1.Platform) (v1.Hash, bool) {
	for _, m := range manifests {
		p := m.Platform
		if p == nil || p.OS != platform.OS || p.Architecture != platform.Architecture {
			continue
		}
		if p.Variant == "" || platform.Variant == "" || p.Variant == platform.Variant {
			return m.Digest, true
		}
	}
	return v1.Hash{}, false
}
