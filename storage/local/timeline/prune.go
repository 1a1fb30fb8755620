// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// pruneInterval is the time between two looks for entries that are too old.
	pruneInterval = 10 * time.Minute
	// pruneEntries is the number of entries that are removed in one transaction, and pruneShare the part of the largest size that
	// they may have: few, because writes wait meanwhile.
	pruneEntries = 1_000
	pruneShare   = 16
	// originShare is the part of an origin's entries that is removed before the largest origin is looked for again.
	originShare = 16
)

// prune removes what is too old or too much, one transaction after the other, until a write waits. It makes at least one step, so
// that the file does not grow while writes always wait.
func (s *Store) prune() {
	for first := true; s.mustPrune() && (first || !s.writesWait()); first = false {
		removed := newPruning()
		err := s.db.Update(func(tx *bolt.Tx) error {
			removed = newPruning()
			step := s.pruneOld
			if s.tooMuch(tx) {
				step = s.pruneLargest
			}
			if err := step(tx, removed); err != nil {
				return err
			}

			return removed.forgetSubjects(tx)
		})
		if err != nil {
			s.config.Failed(fmt.Errorf("remove old entries of the timeline: %w", err))

			return
		}
		if len(removed.usage) == 0 {
			return
		}
		s.used.add(removed.usage, -1)
		s.tellDamaged(removed.damage)
		s.forget(removed.damage)
	}
}

// mustPrune reports whether an entry has to be removed.
func (s *Store) mustPrune() bool {
	must := false
	err := s.db.View(func(tx *bolt.Tx) error {
		if first, _ := numbersOf(tx).Cursor().First(); first == nil {
			return nil
		}
		_, oldest := s.oldest(tx)
		must = s.tooOld(oldest) || s.tooMuch(tx)

		return nil
	})

	return must && err == nil
}

// oldest returns the first entry whose time is not in the future, nil if there is none. Those before it were added while the clock was wrong.
// They are gone over once, until the next look at the ages.
func (s *Store) oldest(tx *bolt.Tx) (number, reference []byte) {
	now, cursor := s.config.Clock.Now(), numbersOf(tx).Cursor()
	for number, reference = cursor.Seek(key(s.passed + 1)); number != nil && timeOf(reference).After(now); number, reference = cursor.Next() {
		s.passed = binary.BigEndian.Uint64(number)
	}

	return number, reference
}

// tooOld reports whether an entry is older than is kept. In the first minutes none is: a machine may begin with a clock that is far ahead, and
// history that is lost does not come back when it is set.
func (s *Store) tooOld(reference []byte) bool {
	return s.settled && reference != nil && timeOf(reference).Before(s.config.Clock.Now().Add(-s.config.Keep))
}

func (s *Store) tooMuch(tx *bolt.Tx) bool {
	stats := s.db.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.Info().PageSize)

	return tx.Size()-free > s.config.MaxBytes
}

// pruneOld removes the entries that are too old, and those that were added before one of them, whatever time they have.
func (s *Store) pruneOld(tx *bolt.Tx, removed *pruning) error {
	for entries := 0; entries < pruneEntries; {
		number, reference := s.oldest(tx)
		if !s.tooOld(reference) {
			return nil
		}
		last := append([]byte(nil), number...)
		for ; entries < pruneEntries; entries++ {
			first, _ := numbersOf(tx).Cursor().First()
			if first == nil || bytes.Compare(first, last) > 0 {
				break
			}
			if err := remove(tx, append([]byte(nil), first...), removed); err != nil {
				return err
			}
		}
	}

	return nil
}

// pruneLargest removes the oldest entries of those who use most, until it has removed enough for one transaction.
func (s *Store) pruneLargest(tx *bolt.Tx, removed *pruning) error {
	for entries, size := 0, int64(0); entries < pruneEntries && size < s.config.MaxBytes/pruneShare; {
		from, used := s.used.largest(removed.usage)
		if used <= 0 {
			return nil
		}
		for before := removed.usage[from]; removed.usage[from]-before <= used/originShare && entries < pruneEntries; entries++ {
			content := originsOf(tx).Bucket(from.key())
			if content == nil {
				return nil
			}
			number, _ := content.Cursor().First()
			was := removed.usage[from]
			if err := remove(tx, append([]byte(nil), number...), removed); err != nil {
				return err
			}
			size += removed.usage[from] - was
		}
	}

	return nil
}
