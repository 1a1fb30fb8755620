// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// returnInterval is the least time between two times that pages are given back.
const returnInterval = time.Minute

// returnPages gives the pages of the file that were read or written since the last time back to the kernel, once in a while: few of
// them are needed soon, and those come back from the page cache. Without it, all of the file would count as memory of this process.
func (s *Store) returnPages() {
	now := s.config.Clock.Now()
	if now.Sub(s.returned) < returnInterval {
		return
	}
	s.returned = now
	// The file stays where it is mapped until the end of a transaction.
	err := s.db.View(func(tx *bolt.Tx) error {
		_, _, errno := unix.Syscall(unix.SYS_MADVISE, s.db.Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED) //nolint:gosec // Sizes are not negative.
		if errno != 0 {
			return errno
		}

		return nil
	})
	if err != nil {
		s.config.Failed(fmt.Errorf("give pages of the timeline back: %w", err))
	}
}
