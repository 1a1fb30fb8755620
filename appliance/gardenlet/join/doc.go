// SPDX-License-Identifier: Apache-2.0

// Package join makes a Kubernetes cluster the seed of a garden, and undoes it.
//
// A join first finds out everything that can be wrong without touching the cluster: whether the garden is the one that
// the token was made for, whether it knows the token, whether the cluster can be a seed. Then it deploys a gardenlet
// with an invitation, and follows it until the seed is ready: first by the notes that the gardenlet leaves in the seed,
// then, once it has its own credentials there, by looking at the Seed with them. A join that fails before the gardenlet
// has registered the seed takes away what it made.
package join
