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

// TestFailedCrowd ends the members of a crowd that cannot go on. One that does not take it does not keep others from joining.
func TestFailedCrowd(t *testing.T) {
	t.Parallel()
	p := storage.Everything
	p.Label = labels.SelectorFromSet(labels.Set{"seed": "one"})
	newMember := func() *member {
		return &member{requires: trait{name: "seed", value: "one"}, keys: log.Range{Key: "/a/", End: "/a0"}, predicate: &p, wake: make(chan struct{}, 1)}
	}
	c, before, ended := newCrowd(nil), newMember(), false
	c.count, c.end = 1, func() { ended = true }
	if joined, err := c.join(before, 1); !joined || err != nil {
		t.Fatalf("joined %t, %v", joined, err)
	}
	c.fail(t.Context(), errFar)
	if !ended || c.count != 0 {
		t.Errorf("the telling has ended: %t, with %d members left; want it to end with none", ended, c.count)
	}
	for range 2 {
		if _, _, err := c.take(before); !errors.Is(err, errFar) {
			t.Errorf("a member of before takes: %v; want %v", err, errFar)
		}
		if joined, err := c.join(before, 1); joined || !errors.Is(err, errFar) {
			t.Errorf("a member of before joins again: %t, %v; want %v", joined, err, errFar)
		}
		c.leave(before)
	}
	c.count, c.end = 1, func() {} // Somebody tells again.
	after := newMember()
	if joined, err := c.join(after, 1); !joined || err != nil {
		t.Errorf("a later one joined: %t, %v; want it to join", joined, err)
	}
}

// TestForget drops the first lines once they are a quarter too many, or too large.
func TestForget(t *testing.T) {
	t.Parallel()
	// state is what is left.
	type state struct{ Lines, Bytes, Last, From, Far int }
	for _, tc := range []struct {
		reason      string
		lines, size int
		want        state
	}{
		{"few", 8, 10, state{Lines: 8, Bytes: 80, Last: 8}},
		{"a quarter too many", 10, 10, state{Lines: 10, Bytes: 100, Last: 10}},
		{"more", 11, 10, state{Lines: 8, Bytes: 80, Last: 8, From: 3, Far: 2}},
		{"large", 4, mostBytes / 2, state{Lines: 2, Bytes: mostBytes, Last: 2, From: 2, Far: 1}},
		{"larger than all", 1, 2 * mostBytes, state{From: 1}},
	} {
		x := newIndex(nil, 8)
		x.reset(0)
		for n := range tc.lines {
			about := line{revision: int64(n + 1), key: string(rune('a' + n)), now: &traits{}, size: tc.size}
			x.lines, x.bytes, x.last[about.key] = append(x.lines, about), x.bytes+tc.size, about.now
		}
		x.forget()
		got := state{len(x.lines), x.bytes, len(x.last), int(x.from), int(x.far)}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: what is left (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestRequired finds what every object has that a watch is told of; without that, the watch cache tells.
func TestRequired(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, label, field string
		want                 trait
		found                bool
	}{
		{"a value", "", "spec.seedName=north", trait{field: true, name: "spec.seedName", value: "north"}, true},
		{"no value, which objects without the field have as well", "", "spec.seedName=", trait{}, false},
		{"any other value", "", "spec.seedName!=north", trait{}, false},
		{"a name, by which the watch cache finds", "", "metadata.name=a", trait{}, false},
		{"the value of a label", "seed=north", "", trait{name: "seed", value: "north"}, true},
		{"one of one value of a label", "seed in (north)", "", trait{name: "seed", value: "north"}, true},
		{"one of several values of a label", "seed in (north,south)", "", trait{}, false},
		{"one of several values of a label, and a value of another one", "seed in (north,south),zone=a", "", trait{name: "zone", value: "a"}, true},
		{"any value of a label", "seed", "", trait{}, false},
		{"none of a value of a label", "seed notin (north)", "", trait{}, false},
	} {
		p := storage.Everything
		p.Field = fields.ParseSelectorOrDie(tc.field)
		var err error
		if p.Label, err = labels.Parse(tc.label); err != nil {
			t.Fatal(err)
		}
		got, found := required(&p)
		if diff := cmp.Diff([]any{tc.want, tc.found}, []any{got, found}, cmp.AllowUnexported(trait{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
