// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// DamagedError says that entries of the file cannot be decoded. They are left out of what is read, and removed when their time comes.
type DamagedError struct {
	// Entries is how many were found that were not known, and First the number of the first of them.
	Entries int
	First   uint64
	// Reason is what is wrong with the first one.
	Reason error
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%d entries of the timeline are left out, the first one because: %v", e.Entries, e.Reason)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

// damage collects the entries that cannot be decoded within one transaction, with the reasons.
type damage struct {
	numbers []uint64
	reasons []error
}

func (d *damage) found(number uint64, reason error) {
	d.numbers, d.reasons = append(d.numbers, number), append(d.reasons, reason)
}

// tellDamaged tells of each damaged entry once while the store is open.
func (s *Store) tellDamaged(d damage) {
	told := &DamagedError{}
	s.mu.Lock()
	for i, number := range d.numbers {
		if s.damaged[number] {
			continue
		}
		if s.damaged == nil {
			s.damaged = map[uint64]bool{}
		}
		s.damaged[number] = true
		if told.Entries++; told.Entries == 1 {
			told.First, told.Reason = number, d.reasons[i]
		}
	}
	s.mu.Unlock()
	if told.Entries > 0 {
		s.config.Failed(told)
	}
}

// forget drops what is known of entries that are removed.
func (s *Store) forget(d damage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, number := range d.numbers {
		delete(s.damaged, number)
	}
}

// pruning is what one transaction removes: how much of each origin, and which entries of each namespace were damaged.
type pruning struct {
	usage
	damage

	lost map[string]map[uint64]bool
}

func newPruning() *pruning { return &pruning{usage: usage{}, lost: map[string]map[uint64]bool{}} }

// damagedIn notes an entry whose subject is unknown.
func (p *pruning) damagedIn(namespace string, number uint64, reason error) {
	p.found(number, reason)
	if p.lost[namespace] == nil {
		p.lost[namespace] = map[uint64]bool{}
	}
	p.lost[namespace][number] = true
}

// forgetSubjects removes damaged entries from the bucket of subjects. Their keys are not known, so those of the namespace are gone over, once
// for all of them.
func (p *pruning) forgetSubjects(tx *bolt.Tx) error {
	for namespace, numbers := range p.lost {
		prefix, gone := subjectPrefix(namespace), [][]byte(nil)
		cursor := subjectsOf(tx).Cursor()
		for k, _ := cursor.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = cursor.Next() {
			if numbers[binary.BigEndian.Uint64(k[len(k)-numberSize:])] {
				gone = append(gone, bytes.Clone(k))
			}
		}
		for _, k := range gone {
			if err := subjectsOf(tx).Delete(k); err != nil {
				return err
			}
		}
	}

	return nil
}
