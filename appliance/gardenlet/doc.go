// SPDX-License-Identifier: Apache-2.0

// Package gardenlet runs a gardenlet: the agent of one seed, which connects to the garden and manages the shoots of the seed.
// The garden never opens a connection to a seed.
//
// It is a list of units for package runner, which start in this order:
//
//	health                        serves /healthz and /readyz from the beginning
//	preflight                     compares the configured networks with those of the cluster
//	leader election               waits until this replica is the leader
//	garden access                 obtains credentials, with a certificate signing request if necessary, and renews them
//	registration                  creates or updates the Seed, and aborts the operations of a process that died
//	custom resource definitions   installs the definitions that the controllers need
//	controllers                   run in one manager, for garden and seed
//
// It runs as a process on any machine, or as a Deployment in the seed.
package gardenlet
