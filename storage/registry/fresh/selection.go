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

// selection finds the records that a predicate selects.
type selection struct {
	index     *index
	keys      log.Range
	predicate storage.SelectionPredicate
	done      func()

	// wanted are revisions of records that were found and not yet returned, out of those up to the revision found. given is the
	// revision up to which everything was returned.
	wanted       []int64
	found, given int64
}

func newSelection(x *index, keys log.Range, after int64, p storage.SelectionPredicate) *selection {
	return &selection{index: x, keys: keys, predicate: p, done: sync.OnceFunc(x.use()), found: after, given: after}
}

// near is the number of revisions among which records are read together.
const near = 64

// Next implements source. It returns few records at a time, so that the watches that wait for their clients hold little.
func (s *selection) Next(ctx context.Context) (records []*log.Record, upTo int64, err error) {
	if len(s.wanted) == 0 {
		if s.wanted, s.found, err = s.index.selected(ctx, s.keys, s.found, &s.predicate); err != nil {
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
	for _, one := range some {
		if len(s.wanted) > 0 && one.Revision == s.wanted[0] {
			records, s.wanted = append(records, one), s.wanted[1:]
		}
	}
	if len(records) == 0 {
		return nil, s.given, fmt.Errorf("%w: the record of revision %d is not there", errUnreadable, next)
	}
	s.given = upTo

	return records, s.given, nil
}

// explain tells what the client can do nothing about from what makes it list again.
func (s *selection) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, log.ErrCompacted) || errors.Is(err, log.ErrClosed) || errors.Is(err, errFar) {
		return err
	}

	return fmt.Errorf("%w: %w", errUnreadable, err)
}

// Stop implements source.
func (s *selection) Stop() { s.done() }
