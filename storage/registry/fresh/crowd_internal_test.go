// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestJoin lets a watch in only if it has seen everything that the others were told of.
func TestJoin(t *testing.T) {
	t.Parallel()
	keys := log.Range{Key: "/a/", End: "/a0"}
	here := trait{name: "seed", value: "one"}
	c := newCrowd(nil)
	c.count, c.end, c.level, c.newest = 1, func() {}, 20, 10
	for _, tc := range []struct {
		reason string
		upTo   int64
		joins  bool
	}{
		{"it has not seen the newest record", 9, false},
		{"it has, although the others know that nothing followed", 10, true},
		{"it is further than the others", 30, true},
	} {
		p := storage.Everything
		p.Label = labels.SelectorFromSet(labels.Set{"seed": "one"})
		m := &member{requires: here, keys: keys, predicate: &p, wake: make(chan struct{}, 1)}
		if joined, err := c.join(m, tc.upTo); joined != tc.joins || err != nil {
			t.Errorf("%s: joined %t, %v; want %t", tc.reason, joined, err, tc.joins)
		}
		if !tc.joins {
			continue
		}
		about := line{revision: tc.upTo, key: "/a/x", now: &traits{labels: labels.Set{"seed": "one"}}}
		c.spread(&about) // It has seen that one.
		about.revision = tc.upTo + 1
		c.spread(&about)
		found, _, err := c.take(m)
		if diff := cmp.Diff([]int64{tc.upTo + 1}, found); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
		}
		c.leave(m)
	}
}

// TestPatience lets a watch look itself that takes nothing.
func TestPatience(t *testing.T) {
	t.Parallel()
	p := storage.Everything
	p.Label = labels.SelectorFromSet(labels.Set{"seed": "one"})
	c := newCrowd(nil)
	c.count, c.end = 1, func() {}
	m := &member{requires: trait{name: "seed", value: "one"}, keys: log.Range{Key: "/a/", End: "/a0"}, predicate: &p, wake: make(chan struct{}, 1)}
	if joined, err := c.join(m, 1); !joined || err != nil {
		t.Fatalf("joined %t, %v", joined, err)
	}
	for n := range int64(patient + 1) {
		c.spread(&line{revision: n + 2, key: "/a/x", now: &traits{labels: labels.Set{"seed": "one"}}})
	}
	if found, _, err := c.take(m); !errors.Is(err, errUntold) || len(found) > 0 {
		t.Errorf("%d records are kept, %v; want none, and that the watch looks itself", len(found), err)
	}
}

// TestRequired finds what every object has that a watch is told of; without that, the watch cache tells.
func TestRequired(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, field string
		want          trait
		found         bool
	}{
		{"a value", "spec.seedName=north", trait{field: true, name: "spec.seedName", value: "north"}, true},
		{"no value, which objects without the field have as well", "spec.seedName=", trait{}, false},
		{"any other value", "spec.seedName!=north", trait{}, false},
		{"a name, by which the watch cache finds", "metadata.name=a", trait{}, false},
	} {
		p := storage.Everything
		p.Field = fields.ParseSelectorOrDie(tc.field)
		got, found := required(&p)
		if diff := cmp.Diff([]any{tc.want, tc.found}, []any{got, found}, cmp.AllowUnexported(trait{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
