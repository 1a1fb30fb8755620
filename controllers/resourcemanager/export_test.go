// SPDX-License-Identifier: Apache-2.0

package resourcemanager

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Completed are options with their defaults.
func Completed(o Options) Options { return o.completed() }

// ClusterID resolves the words that stand for the identity of the seed.
func ClusterID(ctx context.Context, seed client.Reader, given string) (string, error) {
	return clusterID(ctx, seed, given)
}
