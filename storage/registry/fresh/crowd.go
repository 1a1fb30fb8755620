// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	operator "k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// crowd tells many watches of a kind of the new records that they select. A watch cache asks each of its watches about each change:
// with a thousand gardenlets, a thousand for one that concerns a single seed, and a watch that does not answer in time is ended.
// Here a watch is found by a label or field that it requires, so a change costs as much as there are watches that it concerns. A
// watch that does not keep up goes on with the log.
type crowd struct {
	index *index

	mutex sync.Mutex
	// members are the watches by what they require.
	members map[trait]map[*member]struct{}
	count   int
	// level is the revision up to which every member was told, newest that of the newest record among them.
	level, newest int64
	// end ends who tells the members; nil if there are none.
	end context.CancelFunc
}

// trait is a label or a field with its value.
type trait struct {
	field       bool
	name, value string
}

// member is a watch in a crowd. The crowd's mutex guards it.
type member struct {
	requires  trait
	keys      log.Range
	predicate *storage.SelectionPredicate
	// wake is sent to, without waiting, when there is something to take.
	wake chan struct{}
	// found are the revisions of records that the predicate selects, the last of them told.
	found []int64
	told  int64
	// joined says that nothing is missing in found. A watch that takes too little leaves the crowd, and looks itself.
	joined bool
	// failed is why it is told no more. It does not concern those that join later.
	failed error
}

// patient is the number of records that a member may leave untaken.
const patient = 1000

// required returns a label or field that a predicate requires to have a single value, of those that the watch cache has no index for.
func required(p *storage.SelectionPredicate) (trait, bool) {
	if p.ShardSelector != nil && !p.ShardSelector.Empty() {
		return trait{}, false
	}
	if _, one := p.MatchesSingle(); one {
		return trait{}, false
	}
	if p.Label != nil {
		all, _ := p.Label.Requirements()
		for _, one := range all {
			if value, exact := only(&one); exact {
				return trait{name: one.Key(), value: value}, true
			}
		}
	}
	if p.Field != nil {
		for _, one := range p.Field.Requirements() {
			// A field that an object does not have counts as empty, and is not found.
			if one.Operator != operator.NotEquals && one.Field != "metadata.namespace" && one.Value != "" {
				return trait{field: true, name: one.Field, value: one.Value}, true
			}
		}
	}

	return trait{}, false
}

// only returns the one value that a requirement accepts.
func only(r *labels.Requirement) (value string, exact bool) {
	switch r.Operator() {
	case operator.Equals, operator.DoubleEquals, operator.In:
		if values := r.Values(); values.Len() == 1 {
			return values.PopAny()
		}
	default:
	}

	return "", false
}

// join lets a watch be told of everything after a revision up to which it has looked itself. It is not joined if the crowd was told of
// a later record: then the watch has to look once more.
func (c *crowd) join(m *member, upTo int64) (joined bool, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case m.failed != nil:
		return false, m.failed
	case m.joined:
		return true, nil
	case c.count > 0 && c.newest > upTo:
		return false, nil
	}
	if c.count == 0 {
		c.level, c.newest = upTo, upTo
		c.start(m.predicate.GetAttrs)
	}
	if c.members[m.requires] == nil {
		c.members[m.requires] = map[*member]struct{}{}
	}
	c.members[m.requires][m] = struct{}{}
	c.count++
	m.joined, m.found, m.told = true, nil, upTo

	return true, nil
}

// leave ends the telling of a watch.
func (c *crowd) leave(m *member) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.drop(m)
}

func (c *crowd) drop(m *member) {
	if !m.joined {
		return
	}
	m.joined, m.found = false, nil
	same := c.members[m.requires]
	if delete(same, m); len(same) == 0 {
		delete(c.members, m.requires)
	}
	if c.count--; c.count == 0 {
		c.end()
		c.end = nil
	}
}

// errUntold says that a watch was not told of everything and has to look itself.
var errUntold = errors.New("the watch was not told of everything")

// take returns the revisions of the records that a member was told of, and the revision up to which these are all. The error is
// errUntold if the member has to look itself.
func (c *crowd) take(m *member) (found []int64, upTo int64, err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if m.failed != nil {
		return nil, 0, m.failed
	}
	if !m.joined {
		return nil, 0, errUntold
	}
	found, m.found = m.found, nil

	return found, max(c.level, m.told), nil
}

func newCrowd(x *index) *crowd { return &crowd{index: x, members: map[trait]map[*member]struct{}{}} }

// start tells the members until the last of them has left. It is called with the mutex held.
func (c *crowd) start(attributes storage.AttrFunc) {
	ctx, end := context.WithCancel(context.Background()) //nolint:forbidigo // It outlives the watch that comes first, and ends with the last.
	c.end = end
	after := c.level
	go func() {
		if err := c.run(ctx, after, attributes); err != nil {
			c.fail(ctx, err)
		}
	}()
}

// run tells of the records after a revision.
func (c *crowd) run(ctx context.Context, after int64, attributes storage.AttrFunc) error {
	defer c.index.use()()
	wake := make(chan struct{}, 1)
	source := c.index.records
	began := source.source.Revision()
	rings, err := source.source.Follow(children(source.key(source.resources)), began, wake)
	if err != nil {
		return fmt.Errorf("follow the log: %w", err)
	}
	defer rings.Stop()
	for {
		first, err := drain(ctx, rings)
		if err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		if after >= began {
			// Of a kind that is seldom written the log may have forgotten what was long ago. There was nothing before this one.
			after = max(after, first-1)
		}
		lines, upTo, err := c.index.since(ctx, after, attributes)
		if err != nil {
			return err
		}
		c.tell(ctx, lines, upTo)
		after = upTo
		select {
		case <-wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// drain takes what a follower has, and returns the first revision of it, 0 if there is none. The rest is not needed: the index reads it, for
// later watches as well. But only a follower that has nothing more is told of what is new.
func drain(ctx context.Context, f *log.Follower) (first int64, err error) {
	for {
		some, _, err := f.Next(ctx)
		if err != nil || len(some) == 0 {
			return first, err
		}
		if first == 0 {
			first = some[0].Revision
		}
	}
}

// tell tells the members of records, of which none is missing up to a revision.
func (c *crowd) tell(ctx context.Context, lines []line, upTo int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if ctx.Err() != nil {
		return // The members are told by another one.
	}
	for n := range lines {
		c.spread(&lines[n])
		c.newest = lines[n].revision
	}
	c.level = upTo
}

// spread tells those that a record concerns.
func (c *crowd) spread(about *line) {
	if about.unknown {
		for _, same := range c.members {
			c.push(same, about)
		}

		return
	}
	for _, side := range []*traits{about.now, about.before} {
		if side == nil {
			continue
		}
		for name, value := range side.labels {
			c.push(c.members[trait{name: name, value: value}], about)
		}
		for name, value := range side.fields {
			c.push(c.members[trait{field: true, name: name, value: value}], about)
		}
	}
}

func (c *crowd) push(members map[*member]struct{}, about *line) {
	for m := range members {
		if m.told >= about.revision || !about.concerns(m.keys, m.predicate) {
			continue
		}
		m.told = about.revision
		if len(m.found) == patient {
			c.drop(m)
		} else {
			m.found = append(m.found, about.revision)
		}
		m.ring()
	}
}

func (m *member) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// fail has all members end. Those that join afterwards begin anew, whether or not the members have noticed.
func (c *crowd) fail(ctx context.Context, why error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if ctx.Err() != nil {
		return
	}
	for _, same := range c.members {
		for m := range same {
			m.joined, m.found, m.failed = false, nil, why
			m.ring()
		}
	}
	clear(c.members)
	c.count = 0
	c.end()
	c.end = nil
}
