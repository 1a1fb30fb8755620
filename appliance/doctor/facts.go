// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Facts are what is known about a garden. Parts that are not known are nil.
type Facts struct {
	Now     time.Time
	Version string
	// Offline is set if the server was not asked. Unanswered is why it did not answer, if it should have, and InUse says that a
	// process uses its data directory.
	Offline    bool
	Unanswered string
	InUse      bool

	Directory    *Directory
	Host         *Host
	Disk         *Disk
	Clock        *Clock
	Port         *Port
	Certificates []Certificate
	// Rotations are those of keys and authorities that go on.
	Rotations []Rotation
	Stores    []Store
	Datastore *Datastore
	// Holders are the servers that share the keys of the garden.
	Holders []Holder
	Backups *Backups
	// Seeds, Shoots and Requests are nil if they could not be read.
	Seeds    []gardencorev1beta1.Seed
	Shoots   []gardencorev1beta1.Shoot
	Requests []certificatesv1.CertificateSigningRequest
	// Deleting are all objects of other kinds that are being deleted.
	Deleting []Deleting
	// Revoked are the seeds that are shut out.
	Revoked []string
	// ObjectsKnown says that Seeds, Shoots, Requests and Deleting were read.
	ObjectsKnown bool
	// Units are the parts of the server, by whether they are ready.
	Units map[string]bool
}

// Host is the machine and the process.
type Host struct {
	OpenFiles, OpenFilesLimit uint64
	// MemoryBytes is what the process uses, MemoryLimitBytes the limit that it keeps to; 0 if there is none.
	MemoryBytes, MemoryLimitBytes int64
	// DataDir is the data directory, and DataDirMode the permissions on it.
	DataDir     string
	DataDirMode uint32
	// Leftovers are the directories beside it that interrupted restores have left.
	Leftovers []string
}

// Directory says which program has used the data directory.
type Directory struct {
	// Version is that of the program, and Schema that of the directory's shape.
	Version string
	Schema  int
	// Begun is the version to which an upgrade was begun that is not complete; empty if there is none.
	Begun string
	// Snapshot is the one that was taken before.
	Snapshot string
	// Refused is why this program would not start on the directory; empty if it would.
	Refused string
}

// Disk is the file system of the data directory.
type Disk struct {
	Path                  string
	FreeBytes, TotalBytes uint64
	FreeFiles, TotalFiles uint64
	// ReadOnly says that the store has refused writes, because there was no space left.
	ReadOnly bool
}

// Clock is the clock of the machine.
type Clock struct {
	// Synchronized says that the system keeps its clock in step with a time server; Known that the system tells.
	Known, Synchronized bool
	// Newest is the latest time that the data directory has seen: the clock must not be before it.
	Newest time.Time
}

// Port is the address on which the server listens.
type Port struct {
	Address string
	// Problem is why a server that does not run could not listen there; empty if it could.
	Problem string
}

// Certificate is one of the garden.
type Certificate struct {
	Name                string
	NotBefore, NotAfter time.Time
	// Authority is set for those that sign others: they are not renewed by themselves.
	Authority bool
}

// Rotation is a change of keys or authorities that goes on.
type Rotation struct {
	// Of says of what.
	Of      string
	Started time.Time
	// Next is what people have to do; empty if the server goes on by itself.
	Next string
	// Failure is why the last attempt to go on failed.
	Failure string
}

// Store is a database.
type Store struct {
	Name                           string
	SizeBytes, WALBytes, FreeBytes int64
	Revision, Compacted            int64
	CompactedAt                    time.Time
	// Checked is when its integrity was last checked, and Problems what was found.
	Checked  time.Time
	Problems []string
}

// Datastore is a datastore outside of the server.
type Datastore struct {
	// Place says what and where it is.
	Place string
	// Away is why it does not answer, empty if it does; AwaySince is since when.
	Away      string
	AwaySince time.Time
}

// Holder is a server that shares the keys of the garden with others.
type Holder struct {
	Address string
	// Generation is that of its keys, Newest that of the newest ones.
	Generation, Newest int64
	// Runs says that it was seen in the last seconds, and Seen when it was last seen.
	Runs bool
	Seen time.Time
	// Behind says that it does not have the newest keys, Since from when on.
	Behind bool
	Since  time.Time
	// Leads says that it serves the garden.
	Leads bool
	// Failure is why it cannot take them up, or could not take the lead.
	Failure string
}

// Backups are the snapshots of the garden.
type Backups struct {
	// Enabled says that snapshots are taken on a schedule.
	Enabled bool
	// Last is the newest complete snapshot, Every the schedule.
	Last  time.Time
	Every time.Duration
	// Failure is why the last attempt failed; empty if it did not.
	Failure string
}

// Deleting is an object that is being deleted.
type Deleting struct {
	Object

	Since      time.Time
	Finalizers []string
}
