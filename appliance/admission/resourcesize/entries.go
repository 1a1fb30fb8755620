// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	// fewEntries is how many entries of maps count with their bytes only. Nearly all objects have fewer.
	fewEntries = 100
	// perEntry is what each other entry takes of the memory beside its bytes: its place in the map, and one allocation each for key and value. An
	// entry with a key of four bytes and no value has 10 bytes in the store and up to 103 in memory (BenchmarkEntries).
	perEntry = 96
)

// entriesOf is what the entries of the maps of an object take beside their bytes: of labels and annotations, and of the data of ConfigMaps and
// Secrets.
func entriesOf(object any) int64 {
	n := 0
	if metadata, err := meta.Accessor(object); err == nil {
		n += len(metadata.GetLabels()) + len(metadata.GetAnnotations())
	}
	switch o := object.(type) {
	case *corev1.ConfigMap:
		n += len(o.Data) + len(o.BinaryData)
	case *corev1.Secret:
		n += len(o.Data) + len(o.StringData)
	}
	return int64(max(0, n-fewEntries)) * perEntry
}
