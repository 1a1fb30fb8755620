// SPDX-License-Identifier: Apache-2.0

// Package reference protects Secrets and ConfigMaps from deletion for as long as a Shoot of their namespace references them
// (GCM-SHOOTREF-1 to GCM-SHOOTREF-5). A gardenlet needs them until the cluster is deleted.
package reference
