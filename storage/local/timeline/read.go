// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Query selects entries. An empty field selects all.
type Query struct {
	// Namespace is the namespace of the entries.
	Namespace string
	// Kind and Name are those of the subject. Name requires Kind, and Kind requires Namespace.
	Kind, Name string
	// Since and Until are the bounds of the time: not before Since, and before Until.
	Since, Until time.Time
	// After is the number of an entry: only later ones are selected. Upto is the number of the last one; 0 for no bound.
	After, Upto uint64
	// Keep decides on each of the entries that the other fields select. It may be nil.
	Keep func(*Entry) bool
	// Limit is the largest number of entries that are returned, MostWeight about how much memory they may take, of which one entry may take more;
	// 0 for no limit.
	Limit      int
	MostWeight int64
}

// Page is the result of a query.
type Page struct {
	// Entries are in the order in which they were added.
	Entries []*Entry
	// Last is the number of the newest entry of the timeline at the time of the query, selected or not.
	Last uint64
	// More says that further entries are selected after the last one of Entries.
	More bool
}

// Get returns the entry with a number, and false if there is none.
func (s *Store) Get(number uint64) (*Entry, bool, error) {
	var entry *Entry
	err := s.view(func(tx *bolt.Tx) error {
		value := valueOf(tx, key(number))
		if value == nil {
			return nil
		}
		var err error
		entry, err = decode(key(number), value)

		return err
	})

	return entry, entry != nil, err
}

// List returns the entries that a query selects.
func (s *Store) List(ctx context.Context, q Query) (Page, error) {
	var page Page
	looked := search{Query: q}
	err := s.view(func(tx *bolt.Tx) error {
		page = Page{Last: numbersOf(tx).Sequence()}
		weight := int64(0)

		return looked.each(ctx, tx, func(entry *Entry) bool {
			weight += Weight(entry)
			if n := len(page.Entries); q.Limit > 0 && n == q.Limit || q.MostWeight > 0 && n > 0 && weight > q.MostWeight {
				page.More = true

				return false
			}
			page.Entries = append(page.Entries, entry)

			return true
		})
	})
	s.tellDamaged(looked.damage)

	return page, err
}

// Last returns the newest entry of an object that a query selects, nil if there is none. Namespace, Kind and Name are required, and the limits are
// not looked at. Later entries are read, and earlier ones are not.
func (s *Store) Last(ctx context.Context, q Query) (last *Entry, err error) {
	prefix := subjectPrefix(q.Namespace, q.Kind, q.Name)
	looked := search{Query: q}
	err = s.view(func(tx *bolt.Tx) error {
		cursor := subjectsOf(tx).Cursor()
		// No number is larger, and no prefix of another object begins with this one.
		number, at := cursor.Seek(append(slices.Clone(prefix), key(math.MaxUint64)...))
		if number == nil {
			number, at = cursor.Last()
		}
		for ; number != nil && bytes.Compare(number, prefix) > 0; number, at = cursor.Prev() {
			if !bytes.HasPrefix(number, prefix) {
				continue
			}
			stop, err := looked.visit(ctx, tx, number[len(number)-numberSize:], at, func(entry *Entry) bool {
				last = entry

				return false
			})
			if stop || err != nil {
				return err
			}
		}

		return nil
	})
	s.tellDamaged(looked.damage)

	return last, err
}

// Changed returns a channel that is closed when entries are added after the call.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.changed
}

// Reaches returns ErrExpired if entries after a number have been removed.
func (s *Store) Reaches(after uint64) error {
	return s.view(func(tx *bolt.Tx) error {
		numbers := numbersOf(tx)
		oldest, _ := numbers.Cursor().First()
		if after < originsOf(tx).Sequence() || oldest == nil && after < numbers.Sequence() {
			return ErrExpired
		}

		return nil
	})
}

func (s *Store) view(read func(tx *bolt.Tx) error) error {
	if err := s.db.View(read); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}

	return nil
}

// search is a query with the entries that it has left out.
type search struct {
	Query
	damage
}

// each calls visit for the selected entries until it returns false.
func (q *search) each(ctx context.Context, tx *bolt.Tx, visit func(*Entry) bool) error {
	for number, value := range q.candidates(tx) {
		if q.Upto > 0 && binary.BigEndian.Uint64(number) > q.Upto {
			return nil
		}
		if stop, err := q.visit(ctx, tx, number, value, visit); stop || err != nil {
			return err
		}
	}

	return nil
}

// visit calls a function for an entry if it is selected and can be decoded. It reports whether the function returned false.
func (q *search) visit(ctx context.Context, tx *bolt.Tx, number, value []byte, call func(*Entry) bool) (stop bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	n := binary.BigEndian.Uint64(number)
	if n <= q.After || q.Upto > 0 && n > q.Upto {
		return false, nil
	}
	if at := timeOf(value); at.Before(q.Since) || !q.Until.IsZero() && !at.Before(q.Until) {
		return false, nil
	}
	entry, err := decode(number, valueOf(tx, number))
	if err != nil {
		q.found(n, err)

		return false, nil
	}
	if q.Keep != nil && !q.Keep(entry) {
		return false, nil
	}

	return !call(entry), nil
}

// candidates are the numbers of all entries that may be selected, in order, each with at least its time.
func (q Query) candidates(tx *bolt.Tx) func(yield func(number, value []byte) bool) {
	if q.Namespace == "" {
		return func(yield func(number, value []byte) bool) {
			cursor := numbersOf(tx).Cursor()
			for k, v := cursor.Seek(key(q.After + 1)); k != nil; k, v = cursor.Next() {
				if !yield(k, v) {
					return
				}
			}
		}
	}

	return func(yield func(number, value []byte) bool) {
		for _, found := range q.ofSubjects(tx) {
			if !yield(found[0], found[1]) {
				return
			}
		}
	}
}

// ofSubjects returns the numbers and times of the entries of a namespace, a kind within it or an object, in order.
func (q Query) ofSubjects(tx *bolt.Tx) [][2][]byte {
	parts := []string{q.Namespace}
	if q.Kind != "" {
		parts = append(parts, q.Kind)
	}
	if q.Name != "" {
		parts = append(parts, q.Name)
	}
	prefix := subjectPrefix(parts...)
	cursor := subjectsOf(tx).Cursor()
	var found [][2][]byte
	for k, v := cursor.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = cursor.Next() {
		number := k[len(k)-numberSize:]
		if binary.BigEndian.Uint64(number) > q.After {
			found = append(found, [2][]byte{number, v})
		}
	}
	slices.SortFunc(found, func(a, b [2][]byte) int { return bytes.Compare(a[0], b[0]) })

	return found
}

// decode returns a kept entry with its name and version.
func decode(number, value []byte) (*Entry, error) {
	entry := &Entry{}
	n := binary.BigEndian.Uint64(number)
	if len(value) <= numberSize {
		return nil, fmt.Errorf("entry %d of the timeline is damaged", n)
	}
	if err := json.Unmarshal(value[numberSize:], entry); err != nil {
		return nil, fmt.Errorf("entry %d of the timeline is damaged: %w", n, err)
	}
	entry.Name, entry.ResourceVersion = Name(n), strconv.FormatUint(n, 10)

	return entry, nil
}
