// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"

	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// errUnreadable says that the traits of some record cannot be found out.
var errUnreadable = errors.New("a change cannot be reported")

// selection finds the records that a predicate selects: those that the index has, and from then on those that the crowd tells its
// member of.
type selection struct {
	index     *index
	keys      log.Range
	predicate storage.SelectionPredicate
	done      func()
	// crowd has the member, if there is one.
	crowd  *crowd
	member *member

	// wanted are revisions of records that were found and not yet returned, out of those up to the revision found. given is the
	// revision up to which everything was returned.
	wanted       []int64
	found, given int64
}

func newSelection(x *index, keys log.Range, after int64, p storage.SelectionPredicate) *selection {
	return &selection{index: x, keys: keys, predicate: p, done: sync.OnceFunc(x.use()), found: after, given: after}
}

// newMember returns a selection that goes on as a member of a crowd, after everything up to a revision.
func newMember(c *crowd, requires trait, keys log.Range, after int64, p storage.SelectionPredicate) *selection {
	s := newSelection(c.index, keys, after, p)
	s.crowd, s.member = c, &member{requires: requires, keys: keys, predicate: &s.predicate, wake: make(chan struct{}, 1)}

	return s
}

const (
	// near is the number of revisions among which records are read together.
	near = 64
	// nearBytes ends them earlier, so that a watch that waits for its client holds little.
	nearBytes = 256 << 10
)

// Next implements source. It returns few records at a time.
func (s *selection) Next(ctx context.Context) (records []*log.Record, upTo int64, err error) {
	if len(s.wanted) == 0 {
		if err = s.look(ctx); err != nil {
			return nil, s.given, s.explain(ctx, err)
		}
	}
	if len(s.wanted) == 0 {
		s.given = s.found

		return nil, s.given, nil
	}
	next := s.wanted[0]
	last := s.wanted[sort.Search(len(s.wanted), func(n int) bool { return s.wanted[n] >= next+near })-1]
	some, upTo, err := s.index.records.source.Changes(ctx, s.keys, next-1, last)
	if err != nil {
		return nil, s.given, s.explain(ctx, err)
	}
	for bytes, left := 0, some; len(left) > 0 && len(s.wanted) > 0; left = left[1:] {
		one := left[0]
		if one.Revision != s.wanted[0] {
			continue
		}
		records, s.wanted = append(records, one), s.wanted[1:]
		if bytes += len(one.Value) + len(one.PreviousValue); bytes > nearBytes {
			upTo = one.Revision

			break
		}
	}
	if len(records) == 0 {
		return nil, s.given, fmt.Errorf("%w: the record of revision %d is not there", errUnreadable, next)
	}
	s.given = upTo

	return records, s.given, nil
}

// look finds the records that come next.
func (s *selection) look(ctx context.Context) (err error) {
	if s.member != nil {
		if found, upTo, err := s.crowd.take(s.member); !errors.Is(err, errUntold) {
			s.wanted, s.found = found, max(s.found, upTo)

			return err
		}
	}
	s.wanted, s.found, err = s.index.selected(ctx, s.keys, s.found, &s.predicate)

	return err
}

// join has the crowd tell of what follows, once everything was returned that is there. If it is not joined, there may be more.
func (s *selection) join(ctx context.Context) (joined bool, err error) {
	if joined, err = s.crowd.join(s.member, s.found); err != nil { //nolint:contextcheck // Others join as well.
		err = s.explain(ctx, err)
	}

	return joined, err
}

// explain tells what the client can do nothing about from what makes it list again.
func (s *selection) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, log.ErrCompacted) || errors.Is(err, log.ErrClosed) || errors.Is(err, errFar) {
		return err
	}

	return fmt.Errorf("%w: %w", errUnreadable, err)
}

// Stop implements source.
func (s *selection) Stop() {
	if s.member != nil {
		s.crowd.leave(s.member)
	}
	s.done()
}
