// SPDX-License-Identifier: Apache-2.0

// Package hosted finds the shoots of a seed in the cache of the garden's controllers, without a look at the shoots of all other seeds: with
// a thousand seeds, each of which is looked at after a start, those would be read a thousand times.
package hosted

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Field is the field of the index, for the cache of a test that has none yet.
const Field = "hosted.seeds"

// Index adds the index to the cache. It comes before the controllers that need it.
type Index struct{}

// AddToManager implements kit.Adder.
func (Index) AddToManager(clusters kit.Clusters) error {
	return kit.Index(clusters.Garden, &gardencorev1beta1.Shoot{}, Field, Seeds)
}

// Seeds returns the seeds on which a shoot is: that of its spec and, while it moves, that of its status.
func Seeds(shoot *gardencorev1beta1.Shoot) []string {
	var seeds []string
	for _, seed := range []*string{shoot.Spec.SeedName, shoot.Status.SeedName} {
		if seed != nil && !slices.Contains(seeds, *seed) {
			seeds = append(seeds, *seed)
		}
	}
	return seeds
}

// Shoots returns the shoots of a seed. They are shared with the cache and must not be changed.
func Shoots(ctx context.Context, reader client.Reader, seed string, options ...client.ListOption) ([]gardencorev1beta1.Shoot, error) {
	shoots := &gardencorev1beta1.ShootList{}
	options = append(options, client.MatchingFields{Field: seed}, client.UnsafeDisableDeepCopy)
	if err := reader.List(ctx, shoots, options...); err != nil {
		return nil, fmt.Errorf("list shoots of seed %q: %w", seed, err)
	}
	return shoots.Items, nil
}
