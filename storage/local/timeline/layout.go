// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

const (
	bucketNumbers  = "numbers"
	bucketOrigins  = "origins"
	bucketSubjects = "subjects"
	// bucketEntries had the entries of earlier versions, by their numbers and not by their origins.
	bucketEntries = "entries"
	// referenceSize is the size of what is before the origin in the bucket of numbers: the time and the size of the entry.
	referenceSize = numberSize + 4
	// adoptEntries is the number of entries of an earlier version that are moved in one transaction.
	adoptEntries = 5_000
)

func numbersOf(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(bucketNumbers)) }

// originsOf returns the bucket that has a bucket for each origin. Its sequence is the highest number of a removed entry.
func originsOf(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(bucketOrigins)) }

func subjectsOf(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte(bucketSubjects)) }

// createBuckets prepares a file, also one of an earlier version, whose numbers go on.
func createBuckets(tx *bolt.Tx) error {
	for _, name := range []string{bucketNumbers, bucketOrigins, bucketSubjects} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	earlier := tx.Bucket([]byte(bucketEntries))
	if earlier == nil || numbersOf(tx).Sequence() >= earlier.Sequence() {
		return nil
	}
	removed := earlier.Sequence()
	if oldest, _ := earlier.Cursor().First(); oldest != nil {
		removed = binary.BigEndian.Uint64(oldest) - 1
	}

	return errors.Join(numbersOf(tx).SetSequence(earlier.Sequence()), originsOf(tx).SetSequence(removed))
}

// adopt moves the entries of an earlier version to their origins, some in each transaction, so that a crash loses nothing.
// What cannot be decoded has no origin that it could be moved to: failed is told that it is left out.
func adopt(db *bolt.DB, failed func(error)) error {
	for left := true; left; {
		lost := damage{}
		err := db.Update(func(tx *bolt.Tx) error {
			lost = damage{}
			earlier := tx.Bucket([]byte(bucketEntries))
			if earlier == nil {
				left = false

				return nil
			}
			cursor, moved := earlier.Cursor(), 0
			for k, v := cursor.First(); k != nil; k, v = cursor.First() {
				if moved++; moved > adoptEntries {
					return nil
				}
				number := binary.BigEndian.Uint64(k)
				if entry, err := decode(k, v); err != nil {
					lost.found(number, err)
				} else if err := put(tx, number, entry, append([]byte(nil), v...), usage{}); err != nil {
					return err
				}
				if err := cursor.Delete(); err != nil {
					return err
				}
			}

			return tx.DeleteBucket([]byte(bucketEntries))
		})
		if err != nil {
			return fmt.Errorf("take over entries of an earlier version: %w", err)
		}
		if n := len(lost.numbers); n > 0 {
			failed(&DamagedError{Entries: n, First: lost.numbers[0], Reason: lost.reasons[0]})
		}
	}

	return nil
}

// valueOf returns what is kept of the entry with a number, and nil if there is none.
func valueOf(tx *bolt.Tx, number []byte) []byte {
	reference := numbersOf(tx).Get(number)
	if len(reference) < referenceSize {
		return nil
	}
	content := originsOf(tx).Bucket(reference[referenceSize:])
	if content == nil {
		return nil
	}

	return content.Get(number)
}

// remove takes the entry with a number out of all buckets. One that cannot be decoded is left in the bucket of subjects, for which see pruning.
func remove(tx *bolt.Tx, number []byte, removed *pruning) error {
	reference, value := numbersOf(tx).Get(number), valueOf(tx, number)
	n := binary.BigEndian.Uint64(number)
	if len(reference) < referenceSize {
		return fmt.Errorf("entry %d of the timeline is damaged: it has no origin", n)
	}
	from := originFrom(reference[referenceSize:])
	removed.usage[from] += int64(binary.BigEndian.Uint32(reference[numberSize:]))
	if entry, err := decode(number, value); err != nil {
		removed.damagedIn(from.namespace, n, err)
	} else if err := subjectsOf(tx).Delete(subjectKey(entry, n)); err != nil {
		return err
	}
	if err := errors.Join(removeContent(tx, from, number), numbersOf(tx).Delete(number)); err != nil {
		return err
	}
	if n <= originsOf(tx).Sequence() {
		return nil
	}

	return originsOf(tx).SetSequence(n)
}

// removeContent removes an entry from the bucket of its origin, and the bucket with its last entry.
func removeContent(tx *bolt.Tx, from origin, number []byte) error {
	content := originsOf(tx).Bucket(from.key())
	if content == nil {
		return nil
	}
	if err := content.Delete(number); err != nil {
		return err
	}
	if first, _ := content.Cursor().First(); first != nil {
		return nil
	}

	return originsOf(tx).DeleteBucket(from.key())
}
