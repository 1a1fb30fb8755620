// SPDX-License-Identifier: Apache-2.0

package log

// Record is one write: a key was created, changed or deleted. Records are immutable and shared; nobody changes a Value.
type Record struct {
	// Revision is the place of the write in the log.
	Revision int64
	// Key is what was written.
	Key string
	// Deleted says that the key was removed; the record then has no Value.
	Deleted bool
	// Created is the revision in which the key began to exist.
	Created int64
	// Lease is the number of seconds after which the key is removed; 0 means never.
	Lease int64
	// Expires is when the lease ends, in seconds since 1970; 0 means never.
	Expires int64
	// Value is what was stored.
	Value []byte
	// Previous is the revision of the record that this one replaces or removes; 0 for a key that did not exist.
	Previous int64
	// PreviousValue is the Value of that record, and PreviousCreated, PreviousLease what it said beside it. They are set
	// in records that watches receive. PreviousValue is nil if it is not known, because that record was compacted or is damaged.
	PreviousValue                  []byte
	PreviousCreated, PreviousLease int64
}

// size is what the record takes in memory, roughly.
func (r *Record) size() int64 { return int64(len(r.Key)+len(r.Value)+len(r.PreviousValue)) + 160 }

// stored is what the record takes in the file, roughly.
func (r *Record) stored() int64 { return int64(len(r.Key)+len(r.Value)) + 100 }

// head is the newest state of a key that exists.
type head struct {
	key               string
	revision, created int64
	lease, expires    int64
}

func (r *Record) head() head {
	return head{key: r.Key, revision: r.Revision, created: r.Created, lease: r.Lease, expires: r.Expires}
}

// Range selects keys: those from Key up to, but without, End; or Key alone where End is empty. An End of "\x00" means
// all keys from Key on.
type Range struct{ Key, End string }

// Contains reports whether a key is in the range.
func (r Range) Contains(key string) bool {
	switch r.End {
	case "":
		return key == r.Key
	case openEnd:
		return key >= r.Key
	default:
		return key >= r.Key && key < r.End
	}
}

// openEnd is how clients of etcd say that a range has no end.
const openEnd = "\x00"
