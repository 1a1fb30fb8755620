// SPDX-License-Identifier: Apache-2.0

// Package reference keeps Secrets and ConfigMaps alive for as long as a Shoot of their namespace references them
// (GCM-SHOOTREF-1 to GCM-SHOOTREF-5): a gardenlet needs them until the cluster is gone.
package reference
