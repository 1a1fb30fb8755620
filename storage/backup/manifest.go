// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"time"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Format is the version of the form of the files. Files of a later one are refused.
const Format = 1

// Kind says what is in a file.
type Kind string

const (
	// Full is a snapshot.
	Full Kind = "snapshot"
	// Increment holds the writes since the file before it.
	Increment Kind = "increment"
)

// What reading a file can end with.
var (
	// ErrDamaged says that a file is not as it was written.
	ErrDamaged = errors.New("the file is damaged")
	// ErrWrongKey says that the key at hand does not open a file.
	ErrWrongKey = errors.New("the file is encrypted for another key")
	// ErrNotFound says that there is no file of a name.
	ErrNotFound = errors.New("there is no such snapshot")
	// ErrOtherHistory says that an increment goes on from another state than that of the file before it.
	ErrOtherHistory = errors.New("it is of another history than the file before it: the machine of the garden went back to an earlier state between them")
	// ErrNewerFormat says that a newer version has written a file.
	ErrNewerFormat = errors.New("written by a newer version of terrarium")
)

// Manifest says what is in a file. It holds no secrets.
type Manifest struct {
	// Format is the version of the form of the file.
	Format int `json:"format"`
	// Kind says whether it is a snapshot or an increment.
	Kind Kind `json:"kind"`
	// Version is the version of the program whose state it is.
	Version string `json:"version"`
	// Garden is the cluster identity of the garden.
	Garden string `json:"garden"`
	// Time is when the state was read: all writes that were answered before are in it.
	Time time.Time `json:"time"`
	// Objects and Events say which part of the two databases it holds.
	Objects Span `json:"objects"`
	Events  Span `json:"events"`
	// Parts are the parts in their order, without the manifest itself.
	Parts []Part `json:"parts"`
}

// Span is a part of a database.
type Span struct {
	// From is the revision after which it begins; 0 in a snapshot.
	From int64 `json:"from,omitempty"`
	// To is the revision whose state is complete with it.
	To int64 `json:"to"`
	// FromSum and ToSum are the checksums of the records at From and To, 0 where there are none: a machine that went back to an earlier state
	// writes other records with the same revisions.
	FromSum int64 `json:"fromSum,omitempty"`
	ToSum   int64 `json:"toSum,omitempty"`
	// Records is the number of keys in a snapshot, and of writes in an increment.
	Records int64 `json:"records"`
}

// follows reports whether it may go on from another one, as far as the checksums tell.
func (s Span) follows(last Span) bool {
	return s.From != last.To || s.FromSum == 0 || last.ToSum == 0 || s.FromSum == last.ToSum
}

// differs reports whether a record is another one than that with which it ends.
func (s Span) differs(r *log.Record) bool {
	return r.Revision == s.To && s.ToSum != 0 && r.Sum() != s.ToSum
}

// Part is a part of a file.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// footer stands in the clear at the end of a file, so that it can be listed and checked without the key. What it says of the
// contents is compared with the manifest inside when the file is opened.
type footer struct {
	Manifest Manifest `json:"manifest"`
	// PayloadBytes and PayloadSHA256 are those of the encrypted part, which is all before the footer.
	PayloadBytes  int64  `json:"payloadBytes"`
	PayloadSHA256 string `json:"payloadSHA256"` //nolint:tagliatelle // As SHA256 of parts.
}

// The names of parts.
const (
	partObjects  = "objects"
	partEvents   = "events"
	partTimeline = "timeline"
	partManifest = "manifest"
	// partFile precedes the path of a file of the data directory.
	partFile = "file/"
)
