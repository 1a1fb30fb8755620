// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// UpgradeConfiguration says what is done at the first start of a newer version.
type UpgradeConfiguration struct {
	// SkipSnapshot leaves out the snapshot that is taken before the data directory is changed. Without it, an upgrade that fails can
	// only be undone with an earlier snapshot.
	// +optional
	SkipSnapshot bool `json:"skipSnapshot,omitempty"`
}
