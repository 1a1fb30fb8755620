// SPDX-License-Identifier: Apache-2.0

package resourcesize_test

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkEntries measures how much of the heap an entry of a map takes, in an object that is decoded as from the store, and beyond the size
// that it has there.
func BenchmarkEntries(b *testing.B) {
	config, secret := &corev1.ConfigMap{Data: map[string]string{}}, &corev1.Secret{Data: map[string][]byte{}}
	labels := &corev1.ConfigMap{}
	labels.Labels = map[string]string{}
	for _, entries := range []int{1_000, 5_000, 10_000} {
		for i := range entries {
			key := fmt.Sprintf("%04x", i)
			config.Data[key], secret.Data[key], labels.Labels[key] = "", []byte{}, ""
		}
		measure(b, fmt.Sprint("ConfigMap/", entries), entries, config, func() message { return &corev1.ConfigMap{} })
		measure(b, fmt.Sprint("Secret/", entries), entries, secret, func() message { return &corev1.Secret{} })
		measure(b, fmt.Sprint("labels/", entries), entries, labels, func() message { return &corev1.ConfigMap{} })
	}
}

type message interface {
	Marshal() ([]byte, error)
	Unmarshal(raw []byte) error
}

func measure(b *testing.B, name string, entries int, object message, empty func() message) {
	b.Helper()
	raw, err := object.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	b.Run(name, func(b *testing.B) {
		const objects = 20
		var kept [objects]message
		heap := func() uint64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		for b.Loop() {
			clear(kept[:])
			before := heap()
			for i := range kept {
				kept[i] = empty()
				if err := kept[i].Unmarshal(raw); err != nil {
					b.Fatal(err)
				}
			}
			perEntry := float64(heap()-before) / objects / float64(entries)
			b.ReportMetric(perEntry, "heap-B/entry")
			b.ReportMetric(float64(len(raw))/float64(entries), "stored-B/entry")
		}
		runtime.KeepAlive(kept)
	})
}
