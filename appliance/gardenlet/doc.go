// SPDX-License-Identifier: Apache-2.0

// Package gardenlet is the role of a gardenlet: the agent that runs once for each seed, calls the garden, and looks after
// everything in the seed on its behalf. Nothing in the garden ever calls a seed.
//
// The role is a list of units for package runner. Their order is what happens at the start:
//
//	health                        answers /healthz and /readyz from the first moment on
//	preflight                     are the configured networks those of the cluster?
//	leader election               one of several replicas goes on, the others wait here
//	garden access                 credentials, by a certificate signing request if need be; renewed from then on
//	registration                  the Seed in the garden; operations that died with another process
//	custom resource definitions   what the controllers need in the seed
//	controllers                   one manager for garden and seed
//
// It is the same in a plain process on any machine and in a Deployment in the seed.
package gardenlet
