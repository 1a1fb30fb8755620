// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// index knows what selectors select by, of the records of a kind. Watches with a selector that go over the log share it: when a
// thousand gardenlets come back after a restart, each record is decoded once and not a thousand times. It is forgotten once
// nobody uses it.
type index struct {
	records *records
	// most is the number of records that a watch goes over at most.
	most int

	// users counts those who have called use. Without any, the lines are forgotten.
	mutex sync.Mutex
	users int
	// turn is held by the user who reads or changes what follows.
	turn chan struct{}
	// lines are about the records after the revision from, up to the revision upTo, in their order and without a gap. Lines do not
	// change: who has a part of them may read it without the turn.
	lines      []line
	from, upTo int64
	// bytes is the size of the traits in the lines.
	bytes int
	// last are the traits of the last object of each key in the lines.
	last map[string]*traits
	// far is a revision after which there are too many records.
	far int64
}

// line says of a record what it can be selected by.
type line struct {
	revision int64
	key      string
	// now is about the object and before about the one that it replaced; nil if there is none.
	now, before *traits
	// unknown says that the replaced object is not known. The record is selected, so that its reader finds that out.
	unknown bool
	// size is that of the traits that no earlier line has.
	size int
}

// concerns says whether a predicate selects the record among some keys, by the object or by the one that it replaced.
func (l *line) concerns(keys log.Range, p *storage.SelectionPredicate) bool {
	return keys.Contains(l.key) && (l.unknown || l.now.match(p) || l.before.match(p))
}

// traits are what an object can be selected by.
type traits struct {
	labels labels.Set
	fields fields.Set
}

// size is about how much memory they take.
func (t *traits) size() int {
	const each = 64
	sum := each
	for _, set := range []map[string]string{t.labels, t.fields} {
		for name, value := range set {
			sum += each + len(name) + len(value)
		}
	}

	return sum
}

// farthest is the number of records of a kind that a watch with a selector goes over. To list the state takes less than so many changes.
const farthest = 20_000

// mostBytes bounds the traits that an index has of these records: labels may be large, and who may write objects of a kind chooses them.
const mostBytes = 16 << 20

// errFar says that there are too many records to go over.
var errFar = errors.New("there are more changes than a watch goes over")

func newIndex(r *records, most int) *index {
	return &index{records: r, most: most, turn: make(chan struct{}, 1)}
}

// use says that the caller will ask the index until it calls the returned function.
func (x *index) use() (done func()) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.users++

	return func() {
		x.mutex.Lock()
		defer x.mutex.Unlock()
		if x.users--; x.users == 0 {
			x.reset(0)
		}
	}
}

// selected returns the revisions after one of them of the records that a predicate selects among some keys, by the object or by the one
// that it replaced, and the revision up to which these are all.
func (x *index) selected(ctx context.Context, keys log.Range, after int64, p *storage.SelectionPredicate) (revisions []int64, upTo int64, err error) {
	lines, upTo, err := x.since(ctx, after, p.GetAttrs)
	if err != nil {
		return nil, 0, err
	}
	for _, one := range lines {
		if one.concerns(keys, p) {
			revisions = append(revisions, one.revision)
		}
	}

	return revisions, upTo, nil
}

func (t *traits) match(p *storage.SelectionPredicate) bool {
	return t != nil && p.MatchesObjectAttributes(t.labels, t.fields)
}

// since returns the lines after a revision, after it has read what is missing of them.
func (x *index) since(ctx context.Context, after int64, attributes storage.AttrFunc) (lines []line, upTo int64, err error) {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	if after <= x.far {
		return nil, 0, errFar
	}
	if after > x.upTo {
		x.reset(after)
	}
	if err = x.reachBack(ctx, after, attributes); err == nil {
		err = x.goOn(ctx, attributes)
	}
	if errors.Is(err, errFar) {
		x.far = max(x.far, after)
	}
	if err != nil {
		return nil, 0, err
	}
	if after < x.from {
		return nil, 0, errFar // The first of them were forgotten for the last ones.
	}
	first := sort.Search(len(x.lines), func(n int) bool { return x.lines[n].revision > after })

	return slices.Clip(x.lines[first:]), x.upTo, nil
}

// reachBack reads the records between a revision and the first line.
func (x *index) reachBack(ctx context.Context, after int64, attributes storage.AttrFunc) error {
	if after >= x.from {
		return nil
	}
	earlier, _, err := x.read(ctx, after, x.from, reading{most: x.most - len(x.lines), last: map[string]*traits{}, attributes: attributes})
	if err != nil {
		return err
	}
	x.lines, x.from = append(earlier, x.lines...), after
	for n := range earlier {
		x.bytes += earlier[n].size
	}

	return nil
}

// reset forgets all lines. The next ones follow a revision.
func (x *index) reset(after int64) {
	x.lines, x.from, x.upTo, x.bytes, x.last = nil, after, after, 0, map[string]*traits{}
}

// goOn reads the records after the last line. The first lines are forgotten when there are too many: who needs them lists the state.
func (x *index) goOn(ctx context.Context, attributes storage.AttrFunc) error {
	later, upTo, err := x.read(ctx, x.upTo, x.records.source.Revision(), reading{most: x.most, last: x.last, attributes: attributes})
	x.lines, x.upTo = append(x.lines, later...), upTo
	for n := range later {
		x.bytes += later[n].size
	}
	if err != nil {
		x.last = map[string]*traits{} // It is further than the lines are.
	}
	x.forget()

	return err
}

// forget drops the first lines of too many. It waits until they are a quarter too many, so that not each change copies all lines.
func (x *index) forget() {
	if len(x.lines) <= x.most+x.most/4 && x.bytes <= mostBytes+mostBytes/4 {
		return
	}
	drop := 0
	for left := len(x.lines); left > x.most || x.bytes > mostBytes; left-- {
		one := &x.lines[drop]
		if x.bytes -= one.size; x.last[one.key] == one.now {
			delete(x.last, one.key)
		}
		drop++
	}
	x.from, x.far = x.lines[drop-1].revision, max(x.far, x.lines[drop-1].revision-1)
	x.lines = slices.Clone(x.lines[drop:])
}

// reading is what is needed to read records.
type reading struct {
	// most is the number of records that are read at most.
	most int
	// last are the traits of the last object of each key that was read.
	last       map[string]*traits
	attributes storage.AttrFunc
}

// read makes the lines of the records between two revisions, as far as it gets.
func (x *index) read(ctx context.Context, from, to int64, r reading) (lines []line, upTo int64, err error) {
	keys, bytes := children(x.records.key(x.records.resources)), 0
	for upTo = from; upTo < to; {
		records, next, err := x.records.source.Changes(ctx, keys, upTo, to)
		if err != nil {
			return lines, upTo, fmt.Errorf("read changes: %w", err)
		}
		if len(lines)+len(records) > r.most {
			return lines, upTo, errFar
		}
		made := make([]line, 0, len(records))
		for _, one := range records {
			about, err := x.line(ctx, one, r)
			if err != nil {
				return lines, upTo, err
			}
			made = append(made, about)
			bytes += about.size
		}
		if bytes > mostBytes {
			return lines, upTo, errFar
		}
		lines, upTo = append(lines, made...), next
	}

	return lines, upTo, nil
}

func (x *index) line(ctx context.Context, of *log.Record, r reading) (made line, err error) {
	made = line{revision: of.Revision, key: of.Key}
	if !of.Deleted {
		if made.now, err = x.traits(ctx, of, of.Value, r.attributes); err != nil {
			return made, err
		}
	}
	replaces := of.Deleted || of.Created != of.Revision
	before, met := r.last[of.Key]
	if r.last[of.Key] = made.now; of.Deleted {
		delete(r.last, of.Key)
	}
	switch {
	case !replaces:
	case met:
		made.before = before
	case of.PreviousValue == nil:
		made.unknown = true
	default:
		if made.before, err = x.traits(ctx, of, of.PreviousValue, r.attributes); err == nil {
			made.size = made.before.size()
		}
	}
	if made.now != nil {
		made.size += made.now.size()
	}

	return made, err
}

func (x *index) traits(ctx context.Context, of *log.Record, stored []byte, attributes storage.AttrFunc) (*traits, error) {
	object, err := x.records.object(ctx, of, stored)
	if err != nil {
		return nil, err
	}

	return traitsOf(object, attributes)
}

func traitsOf(object runtime.Object, attributes storage.AttrFunc) (*traits, error) {
	byLabel, byField, err := attributes(object)
	if err != nil {
		return nil, fmt.Errorf("find labels and fields of stored object: %w", err)
	}

	return &traits{labels: byLabel, fields: byField}, nil
}
