// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"

	"filippo.io/age"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// follows reports whether an increment goes on from the state in which another file ends. The increment is read to its end, because it may
// begin before that state.
func follows(ctx context.Context, in Store, identities []age.Identity, file, increment string) (is bool, err error) {
	last, err := manifest(ctx, in, file)
	if err != nil {
		return false, err
	}
	f, err := in.Open(ctx, increment)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	same := func(span Span) func(*log.Record) error {
		return func(r *log.Record) error {
			if span.differs(r) {
				return ErrOtherHistory
			}

			return nil
		}
	}
	next, err := scan(f, identities, sink{object: same(last.Objects), event: same(last.Events)})
	if errors.Is(err, ErrOtherHistory) {
		return false, nil
	}
	if err != nil {
		return false, err
	}

	return next.Objects.follows(last.Objects) && next.Events.follows(last.Events), nil
}
