// SPDX-License-Identifier: Apache-2.0

package log

import "context"

// Change is a write that a caller wants.
type Change struct {
	// Key is what to write.
	Key string
	// Value is what to store; it must not be changed afterwards. Ignored for a deletion.
	Value []byte
	// Lease is the number of seconds after which the key is removed again; 0 means never.
	Lease int64
	// Delete asks for the key to be removed.
	Delete bool
	// Revision is the one that the key must have: 0 means that it must not exist. For a deletion, Any is allowed as well.
	Revision int64
}

// Any is the Revision of a deletion of whatever there is.
const Any = -1

// Result is what became of a Change.
type Result struct {
	// Applied says that the change was made.
	Applied bool
	// Revision is the one that was published when the result was known; that of the write itself if it was applied.
	Revision int64
	// Record is what was written if the change was applied.
	Record *Record
	// Found is the revision that the key had if the change was not applied; 0 if it did not exist.
	Found int64
}

// write is a Change on its way to the writer.
type write struct {
	Change

	done chan written
}

type written struct {
	Result

	err error
}

// Write makes a change if the key has the revision that it names. It returns once the change is on the disk and
// published, or once what made it impossible is. ctx ends the waiting only: a change that was handed over may still be
// made.
func (l *Log) Write(ctx context.Context, c Change) (Result, error) {
	w := &write{Change: c, done: make(chan written, 1)}
	select {
	case l.writes <- w:
	case <-l.stopping:
		return Result{}, ErrClosed
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	select {
	case done := <-w.done:
		return done.Result, done.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-l.stopped:
		// The writer answers all that it has taken before it ends.
		select {
		case done := <-w.done:
			return done.Result, done.err
		default:
			return Result{}, ErrClosed
		}
	}
}
