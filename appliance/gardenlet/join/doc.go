// SPDX-License-Identifier: Apache-2.0

// Package join makes a Kubernetes cluster the seed of a garden, and undoes it.
//
// A join first checks, without changing the cluster, whether the garden is the one for which the token was made, whether the
// garden accepts the token, and whether the cluster can be a seed. Then it deploys a gardenlet with an invitation and follows it
// until the seed is ready: first by the annotations that the gardenlet sets in the seed and then, when it has stored its
// credentials there, by reading the Seed with these. If a join fails before the gardenlet has registered the seed, it removes
// what it has created.
package join
