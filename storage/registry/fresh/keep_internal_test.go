// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// TestPosition says from which version a watch could go on after some events, 0 if from none.
func TestPosition(t *testing.T) {
	t.Parallel()
	added, mark := at(watch.Added, "7"), at(watch.Bookmark, "9")
	for name, tc := range map[string]struct {
		begin  storage.ListOptions
		events []watch.Event
		want   int64
	}{
		"nothing came":              {storage.ListOptions{ResourceVersion: "5"}, nil, 5},
		"a change":                  {storage.ListOptions{ResourceVersion: "5"}, []watch.Event{added}, 7},
		"a bookmark":                {storage.ListOptions{ResourceVersion: "5"}, []watch.Event{added, mark}, 9},
		"the state is told":         {storage.ListOptions{}, []watch.Event{added}, 0},
		"some state is told":        {storage.ListOptions{ResourceVersion: "0"}, []watch.Event{added}, 0},
		"a new state is told":       {storage.ListOptions{ResourceVersion: "5", SendInitialEvents: new(true)}, []watch.Event{added}, 0},
		"the state is complete":     {storage.ListOptions{}, []watch.Event{added, mark}, 9},
		"some state is complete":    {storage.ListOptions{ResourceVersion: "0"}, []watch.Event{mark}, 9},
		"a new state, and a change": {storage.ListOptions{SendInitialEvents: new(true)}, []watch.Event{added, mark, at(watch.Modified, "12")}, 12},
		"no state is wanted":        {storage.ListOptions{ResourceVersion: "5", SendInitialEvents: new(false)}, []watch.Event{added}, 7},
	} {
		p := newPosition(&tc.begin)
		for n := range tc.events {
			p.move(&tc.events[n])
		}
		got := p.revision
		if !p.known() {
			got = 0
		}
		if got != tc.want {
			t.Errorf("%s: goes on from %d, want %d", name, got, tc.want)
		}
	}
}

// at is an event of a version.
func at(kind watch.EventType, version string) watch.Event {
	return watch.Event{Type: kind, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}}
}
