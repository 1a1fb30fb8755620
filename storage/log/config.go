// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// Config says where a log is kept and how much of its past.
type Config struct {
	// File is the SQLite file. It is created with mode 0600 if it does not exist.
	File string
	// Retain is how long a superseded record is kept at least, unless RetainRevisions is exceeded. Watches and paged
	// lists can go on from any revision of this period.
	Retain time.Duration
	// MinRevisions is the number of newest revisions that are never compacted.
	MinRevisions int64
	// MaxRevisions is the number of newest revisions beyond which records are compacted however young they are. It
	// bounds the file under sustained writes.
	MaxRevisions int64
	// MaxBytes is the size of the newest records beyond which records are compacted however young they are, and however few. It bounds the file
	// under sustained writes of large values. MinRevisions are kept all the same.
	MaxBytes int64
	// HeldRevisions is the number of newest revisions that Hold keeps in the file at most, beside those that are kept without it, and HeldBytes
	// how much may be written while it does.
	HeldRevisions, HeldBytes int64
	// HistoryBytes is the size of the newest records that are kept in memory for watches and reads.
	HistoryBytes int64
	// PendingBytes is how much may wait in memory for one slow watch. A watch beyond it reads from the file instead.
	PendingBytes int64
	// BatchBytes and BatchWrites bound one transaction.
	BatchBytes  int64
	BatchWrites int
	// GroupDelay is how long a transaction waits at most for as many changes as the one before it had: clients that
	// were answered together often write again together. 0 turns the waiting off.
	GroupDelay time.Duration
	// WALBytes is the size of the write-ahead log beyond which the writer itself moves it into the file.
	WALBytes int64
	// Readers is the number of connections that read.
	Readers int
	// Clock tells when leases end and how old records are.
	Clock clock.WithTicker
	// Log receives what an operator has to know.
	Log logr.Logger
	// Pause is for tests, which make a moment last by it. It is nil in a garden.
	Pause func(Moment)
}

// Moment is one at which other goroutines may see something half done.
type Moment string

// The moments of a write, in their order.
const (
	// Committing is before a batch is committed.
	Committing Moment = "Committing"
	// Committed is after that, before the batch is published.
	Committed Moment = "Committed"
	// Published is after that, before the writes are answered.
	Published Moment = "Published"
	// Delivering is before something is sent to a watch.
	Delivering Moment = "Delivering"
)

func (c Config) pause(at Moment) {
	if c.Pause != nil {
		c.Pause(at)
	}
}

// NewConfig returns the values a garden runs with, for a file.
func NewConfig(file string) Config {
	return Config{
		File:          file,
		Retain:        5 * time.Minute,
		MinRevisions:  1000,
		MaxRevisions:  100_000,
		MaxBytes:      1 << 30,
		HeldRevisions: 400_000,
		HeldBytes:     4 << 30,
		HistoryBytes:  8 << 20,
		PendingBytes:  4 << 20,
		BatchBytes:    8 << 20,
		BatchWrites:   1024,
		GroupDelay:    300 * time.Microsecond,
		WALBytes:      64 << 20,
		Readers:       4,
		Clock:         clock.RealClock{},
		Log:           logr.Discard(),
	}
}

// Validate reports every value with which a log cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.File == "" {
		errs = append(errs, errors.New("file: must be set"))
	}
	if c.Retain < 0 {
		errs = append(errs, fmt.Errorf("retain: %s is negative", c.Retain))
	}
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"min revisions", c.MinRevisions},
		{"max bytes", c.MaxBytes},
		{"held revisions", c.HeldRevisions},
		{"held bytes", c.HeldBytes},
		{"history bytes", c.HistoryBytes},
		{"pending bytes", c.PendingBytes},
		{"batch bytes", c.BatchBytes},
		{"batch writes", int64(c.BatchWrites)},
		{"WAL bytes", c.WALBytes},
		{"readers", int64(c.Readers)},
	} {
		if v.value < 1 {
			errs = append(errs, fmt.Errorf("%s: %d is below 1", v.name, v.value))
		}
	}
	if c.MaxRevisions < c.MinRevisions {
		errs = append(errs, fmt.Errorf("max revisions: %d is below min revisions, %d", c.MaxRevisions, c.MinRevisions))
	}
	if c.Clock == nil {
		errs = append(errs, errors.New("clock: must be set"))
	}

	return errors.Join(errs...)
}
