// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"os"
	"time"

	"github.com/terrarium-garden/terrarium/storage/log"
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
	// Full says that the last write failed because there was no space left.
	Full bool
}

// Files describes the databases of this machine. There are none with an external datastore.
func (s *Stores) Files() []File {
	var all []File
	for _, i := range s.instances {
		if i.log == nil {
			continue
		}
		f := File{Name: i.name, Revision: i.log.Revision(), Full: i.log.Full()}
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

// Logs are the logs of the databases of this machine, by their names. There are none with an external datastore.
func (s *Stores) Logs() map[string]*log.Log {
	all := map[string]*log.Log{}
	for _, i := range s.instances {
		if i.log != nil {
			all[i.name] = i.log
		}
	}

	return all
}
