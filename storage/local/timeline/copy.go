// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// FileName is the name of the file in the directory of a store.
const FileName = fileName

// Copy writes the file as it is at one moment. Reads and writes go on beside it.
func (s *Store) Copy(to io.Writer) error {
	return s.db.View(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(to)

		return err
	})
}

// Advance checks the file of a copy, which nobody else uses, and has the numbers of new entries go on further up, beyond those
// that clients have seen since the copy was made.
func Advance(dir string, by uint64) (err error) {
	path := filepath.Join(dir, fileName)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: openTimeout, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return fmt.Errorf("open timeline: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	return db.Update(func(tx *bolt.Tx) error {
		var problems []error
		for problem := range tx.Check() {
			problems = append(problems, problem)
		}
		if err := errors.Join(problems...); err != nil {
			return fmt.Errorf("check timeline: %w", err)
		}
		if err := createBuckets(tx); err != nil {
			return err
		}

		return numbersOf(tx).SetSequence(numbersOf(tx).Sequence() + by)
	})
}
