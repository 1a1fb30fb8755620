// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SnapshotConfiguration says how the garden is saved: snapshots of everything, and increments with the writes between them.
type SnapshotConfiguration struct {
	// Disabled turns snapshots and increments off.
	// +optional
	Disabled bool `json:"disabled,omitempty"`
	// Interval is the time between two snapshots, at least 10m. Defaults to 12h.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
	// IncrementInterval is the time between two increments, at least 5s; 0s turns them off. What was written since the last one
	// is lost with the disk. Defaults to 30s.
	// +optional
	IncrementInterval *metav1.Duration `json:"incrementInterval,omitempty"`
	// Keep is the number of newest snapshots that are always kept. Of older ones, the last one of each hour of a day, of each day
	// of a week, and of each week of a month is kept. Defaults to 5.
	// +optional
	Keep *int `json:"keep,omitempty"`
	// Window is how far back the garden can be restored to any time. Defaults to 24h.
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
	// Directory is where they are kept, such as a mounted disk of another machine. Defaults to the directory snapshots in the data
	// directory, which is lost with it.
	// +optional
	Directory string `json:"directory,omitempty"`
	// S3 keeps them in a bucket of an object store instead of a directory.
	// +optional
	S3 *BucketConfiguration `json:"s3,omitempty"`
	// Recipients are public keys of age that can read the snapshots. The server can then only write them: it has no key to read
	// them. By default, the server has a key in the file snapshot.key of its data directory.
	// +optional
	Recipients []string `json:"recipients,omitempty"`
}
