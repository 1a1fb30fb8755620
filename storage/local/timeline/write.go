// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	bucketEntries  = "entries"
	bucketSubjects = "subjects"
	// numberSize is the size of a number in a key, and of the time before an entry.
	numberSize = 8
	// pruneInterval is the time between two looks for entries that are too old.
	pruneInterval = 10 * time.Minute
	// pruneEntries is the number of entries that are removed in one transaction: few, because writes wait meanwhile.
	pruneEntries = 1_000
	// retryInterval is the time between two attempts to write what could not be written.
	retryInterval = time.Second
)

func createBuckets(tx *bolt.Tx) error {
	for _, name := range []string{bucketEntries, bucketSubjects} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}

	return nil
}

func entriesOf(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(bucketEntries)) }

func subjectsOf(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(bucketSubjects)) }

// run writes until the store is closed.
func (s *Store) run() {
	defer close(s.stopped)
	prune := s.config.Clock.NewTicker(pruneInterval)
	defer prune.Stop()
	s.prune()
	for {
		select {
		case w := <-s.wake:
			if !w.now {
				s.linger()
			}
		case <-prune.C():
		case <-s.stop:
			s.flush()

			return
		}
		s.flush()
		s.prune()
	}
}

// linger waits for more entries, until somebody waits for theirs.
func (s *Store) linger() {
	timer := s.config.Clock.NewTimer(linger)
	defer timer.Stop()
	for {
		select {
		case w := <-s.wake:
			if w.now {
				return
			}
		case <-timer.C():
			return
		case <-s.stop:
			return
		}
	}
}

// flush writes what waits. Entries for which somebody waits are given up if the disk refuses them, others are tried again.
func (s *Store) flush() {
	s.tellDropped()
	for {
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		err := s.db.Update(func(tx *bolt.Tx) error { return write(tx, batch) })
		var again []pending
		for _, p := range batch {
			switch {
			case p.done != nil:
				p.done <- err
			case err != nil:
				again = append(again, p)
			}
		}
		if err != nil {
			s.config.Failed(fmt.Errorf("write to timeline: %w", err))
			s.giveBack(again)

			return
		}
		s.publish()
	}
}

// tellDropped tells of entries that were dropped since the last time.
func (s *Store) tellDropped() {
	s.mu.Lock()
	dropped := s.dropped
	s.dropped = 0
	s.mu.Unlock()
	if dropped > 0 {
		s.config.Failed(fmt.Errorf("%w: %d entries were left out", ErrFull, dropped))
	}
}

// take returns the entries of the next transaction.
func (s *Store) take() []pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	count, size := 0, 0
	for _, p := range s.waiting {
		if count > 0 && size+len(p.entries) > maxTransaction {
			break
		}
		count, size = count+1, size+len(p.entries)
	}
	batch := s.waiting[:count:count]
	s.waiting = s.waiting[count:]
	s.entries -= size

	return batch
}

// giveBack puts entries back that could not be written, and tries again later.
func (s *Store) giveBack(batch []pending) {
	if len(batch) == 0 {
		return
	}
	s.mu.Lock()
	closed := s.closed
	s.waiting = append(batch, s.waiting...)
	for _, p := range batch {
		s.entries += len(p.entries)
	}
	s.mu.Unlock()
	if closed {
		return
	}
	timer := s.config.Clock.NewTimer(retryInterval)
	defer timer.Stop()
	select {
	case <-timer.C():
		s.signal(wake{now: true})
	case <-s.stop:
	}
}

// publish tells readers that there are new entries.
func (s *Store) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func write(tx *bolt.Tx, batch []pending) error {
	entries, subjects := entriesOf(tx), subjectsOf(tx)
	// Numbers only grow, so pages can be filled to the end.
	entries.FillPercent = 1
	for _, p := range batch {
		for _, entry := range p.entries {
			number, err := entries.NextSequence()
			if err != nil {
				return err
			}
			value, err := encode(entry, number)
			if err != nil {
				return err
			}
			if err := entries.Put(key(number), value); err != nil {
				return err
			}
			if err := subjects.Put(subjectKey(entry, number), value[:numberSize]); err != nil {
				return err
			}
		}
	}

	return nil
}

// Name returns the name of the entry with a number.
func Name(number uint64) string { return fmt.Sprintf("%016d", number) }

// Number returns the number of the entry with a name.
func Number(name string) (uint64, error) {
	number, err := strconv.ParseUint(name, 10, 64)
	if err != nil || Name(number) != name {
		return 0, fmt.Errorf("%q is not the name of an entry", name)
	}

	return number, nil
}

func key(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// subjectKey is the key of an entry in the bucket of subjects. Names have no zero bytes.
func subjectKey(entry *Entry, number uint64) []byte {
	return binary.BigEndian.AppendUint64(subjectPrefix(entry.Namespace, entry.Subject.Kind, entry.Subject.Name), number)
}

// subjectPrefix is the beginning of the keys of a namespace, of a kind within it, or of an object.
func subjectPrefix(parts ...string) []byte {
	var prefix []byte
	for _, part := range parts {
		prefix = append(append(prefix, part...), 0)
	}

	return prefix
}

// encode returns what is kept for an entry: its time, which can be read without the rest, and the entry.
func encode(entry *Entry, number uint64) ([]byte, error) {
	kept := *entry
	kept.Name, kept.ResourceVersion = "", ""
	data, err := json.Marshal(&kept)
	if err != nil {
		return nil, fmt.Errorf("encode entry %d: %w", number, err)
	}

	return append(timeKey(entry.Time.Time), data...), nil
}

func timeKey(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMicro())) }

func timeOf(value []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(value))) //nolint:gosec // timeKey made it from an int64
}

// prune removes what is too old or too much, one transaction after the other, until a write waits.
func (s *Store) prune() {
	for s.mustPrune() && !s.writesWait() {
		if err := s.db.Update(s.pruneSome); err != nil {
			s.config.Failed(fmt.Errorf("remove old entries of the timeline: %w", err))

			return
		}
	}
}

// mustPrune reports whether the oldest entry has to be removed.
func (s *Store) mustPrune() bool {
	must := false
	err := s.db.View(func(tx *bolt.Tx) error {
		_, oldest := entriesOf(tx).Cursor().First()
		must = oldest != nil && (s.tooOld(oldest) || s.tooMuch(tx))

		return nil
	})

	return must && err == nil
}

func (s *Store) tooOld(value []byte) bool {
	return timeOf(value).Before(s.config.Clock.Now().Add(-s.config.Keep))
}

func (s *Store) tooMuch(tx *bolt.Tx) bool {
	stats := s.db.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.Info().PageSize)

	return tx.Size()-free > s.config.MaxBytes
}

// pruneSome removes entries from the oldest one on: those that are too old, or a fixed number if there are too many.
func (s *Store) pruneSome(tx *bolt.Tx) error {
	entries, subjects := entriesOf(tx), subjectsOf(tx)
	tooMuch := s.tooMuch(tx)
	cursor, removed := entries.Cursor(), 0
	for k, v := cursor.First(); k != nil && removed < pruneEntries; k, v = cursor.First() {
		if !tooMuch && !s.tooOld(v) {
			return nil
		}
		entry, err := decode(k, v)
		if err != nil {
			return err
		}
		if err := subjects.Delete(subjectKey(entry, binary.BigEndian.Uint64(k))); err != nil {
			return err
		}
		if err := cursor.Delete(); err != nil {
			return err
		}
		removed++
	}

	return nil
}

func (s *Store) writesWait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.waiting) > 0 || s.closed
}
