// SPDX-License-Identifier: Apache-2.0

// Package volumes gives shoots with local machines persistent volumes. One claim in the cluster of the machines holds all volumes of a
// shoot, and is mounted into each of its machines; it stays when machines are replaced and while the shoot sleeps, and goes with the
// infrastructure. In the shoot there are a default StorageClass and, on each machine, an agent that serves it (package volumeagent).
//
// A cluster without a suitable default StorageClass has no claim, and its shoots have no StorageClass.
package volumes
