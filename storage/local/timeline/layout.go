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
func adopt(db *bolt.DB) error {
	for left := true; left; {
		err := db.Update(func(tx *bolt.Tx) error {
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
				entry, err := decode(k, v)
				if err != nil {
					return err
				}
				if err := put(tx, binary.BigEndian.Uint64(k), entry, append([]byte(nil), v...), usage{}); err != nil {
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

// remove takes the entry with a number out of all buckets.
func remove(tx *bolt.Tx, number []byte, removed usage) error {
	reference, value := numbersOf(tx).Get(number), valueOf(tx, number)
	n := binary.BigEndian.Uint64(number)
	if len(reference) < referenceSize {
		return fmt.Errorf("entry %d of the timeline is damaged: it has no origin", n)
	}
	entry, err := decode(number, value)
	if err != nil {
		return err
	}
	from := originFrom(reference[referenceSize:])
	removed[from] += int64(binary.BigEndian.Uint32(reference[numberSize:]))
	content := originsOf(tx).Bucket(from.key())
	if err := errors.Join(subjectsOf(tx).Delete(subjectKey(entry, n)), content.Delete(number), numbersOf(tx).Delete(number)); err != nil {
		return err
	}
	if first, _ := content.Cursor().First(); first == nil {
		if err := originsOf(tx).DeleteBucket(from.key()); err != nil {
			return err
		}
	}
	if n <= originsOf(tx).Sequence() {
		return nil
	}

	return originsOf(tx).SetSequence(n)
}
