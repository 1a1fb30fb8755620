// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"os"
	"time"
)

// File describes the database of a store.
type File struct {
	// Name is the name of the store.
	Name string
	// SizeBytes and WALBytes are the sizes of the database and of its write-ahead log.
	SizeBytes, WALBytes int64
	// Revision is the newest revision, Compacted the one up to which past states are no longer kept, and CompactedAt when that
	// was changed last; zero if it was not since the start.
	Revision, Compacted int64
	CompactedAt         time.Time
}

// Files describes the databases of this machine. There are none with an external datastore.
func (s *Stores) Files() []File {
	var all []File
	for _, i := range s.instances {
		if i.log == nil {
			continue
		}
		f := File{Name: i.name, Revision: i.log.Revision()}
		f.Compacted, f.CompactedAt = i.log.LastCompaction()
		f.SizeBytes, f.WALBytes = size(i.log.Path()), size(i.log.Path()+"-wal")
		all = append(all, f)
	}

	return all
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}

	return info.Size()
}
