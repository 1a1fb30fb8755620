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
	// numberSize is the size of a number in a key, and of the time before an entry.
	numberSize = 8
	// retryInterval is the time between two attempts to write what could not be written.
	retryInterval = time.Second
)

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
			s.passed, s.settled = 0, true // Their time may have come.
		case <-s.stop:
			s.flush()
			s.refuse()

			return
		}
		s.flush()
		s.prune()
		s.returnPages()
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

// flush writes what waits, and after each transaction removes a part of what is too much: more may wait each time. Entries for which somebody
// waits are given up if the disk refuses them, others are tried again.
func (s *Store) flush() {
	s.tellDropped()
	for {
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		added := usage{}
		err := s.db.Update(func(tx *bolt.Tx) error {
			added = usage{}

			return write(tx, batch, added)
		})
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
		s.used.add(added, 1)
		s.publish()
		s.prune()
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
	count, size, weight := 0, 0, int64(0)
	for _, p := range s.waiting {
		if count > 0 && (size+len(p.entries) > maxTransaction || weight+p.weight > maxTransactionBytes) {
			break
		}
		count, size, weight = count+1, size+len(p.entries), weight+p.weight
	}
	batch := s.waiting[:count:count]
	s.waiting = s.waiting[count:]
	s.entries -= size
	s.weight -= weight

	return batch
}

// refuse answers those who wait for entries that were not written before the end.
func (s *Store) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.waiting {
		if p.done != nil {
			p.done <- ErrClosed
		}
	}
	s.waiting, s.entries, s.weight = nil, 0, 0
}

// giveBack puts entries back that could not be written, and tries again later. Somebody may wait for those behind them.
func (s *Store) giveBack(batch []pending) {
	if len(batch) == 0 {
		if s.writesWait() {
			s.signal(wake{now: true})
		}

		return
	}
	s.mu.Lock()
	closed := s.closed
	s.waiting = append(batch, s.waiting...)
	for _, p := range batch {
		s.entries += len(p.entries)
		s.weight += p.weight
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

func write(tx *bolt.Tx, batch []pending, added usage) error {
	numbers := numbersOf(tx)
	for _, p := range batch {
		for _, entry := range p.entries {
			number, err := numbers.NextSequence()
			if err != nil {
				return err
			}
			value, err := encode(entry)
			if err != nil {
				return fmt.Errorf("encode entry %d: %w", number, err)
			}
			if err := put(tx, number, entry, value, added); err != nil {
				return err
			}
		}
	}

	return nil
}

// put adds an entry to all buckets.
func put(tx *bolt.Tx, number uint64, entry *Entry, value []byte, added usage) error {
	from := originOf(entry)
	content, err := originsOf(tx).CreateBucketIfNotExists(from.key())
	if err != nil {
		return err
	}
	numbers := numbersOf(tx)
	// Numbers only grow, so pages can be filled to the end.
	numbers.FillPercent, content.FillPercent = 1, 1
	size := sizeOf(entry, value)
	if err := content.Put(key(number), value); err != nil {
		return err
	}
	at := value[:numberSize:numberSize]
	if err := numbers.Put(key(number), append(binary.BigEndian.AppendUint32(at, uint32(size)), from.key()...)); err != nil { //nolint:gosec // no entry has 4 GiB
		return err
	}
	added[from] += size

	return subjectsOf(tx).Put(subjectKey(entry, number), value[:numberSize])
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
func encode(entry *Entry) ([]byte, error) {
	kept := *entry
	kept.Name, kept.ResourceVersion = "", ""
	data, err := json.Marshal(&kept)
	if err != nil {
		return nil, err
	}

	return append(timeKey(entry.Time.Time), data...), nil
}

// Size returns how much of the file an entry uses.
func Size(entry *Entry) (int64, error) {
	value, err := encode(entry)
	if err != nil {
		return 0, fmt.Errorf("encode entry: %w", err)
	}

	return sizeOf(entry, value), nil
}

// sizeOf counts an entry in its three buckets.
func sizeOf(entry *Entry, value []byte) int64 {
	return int64(len(value) + len(originOf(entry).key()) + len(subjectKey(entry, 0)) + 4*numberSize)
}

func timeKey(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMicro())) }

func timeOf(value []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(value))) //nolint:gosec // timeKey made it from an int64
}

func (s *Store) writesWait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.waiting) > 0 || s.closed
}
