// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/registry/rewrite"
)

const (
	// encryptionOverlap is how long the former key is kept after all objects have been written with the new one: for requests that
	// had begun before, for snapshots that had, and for watches that read older states.
	encryptionOverlap = time.Hour
	// encryptionRetry is the time after which a step that failed is tried again.
	encryptionRetry = 10 * time.Second
)

// EncryptionStatus is how far the change of the key is with which objects are stored.
type EncryptionStatus struct {
	identity.EncryptionRotation

	// Next is the step that is taken now.
	Next identity.EncryptionStep `json:"next"`
	// Done and Total count the objects that have been looked at.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
	// RemovedAfter is when the former key is removed.
	RemovedAfter *time.Time `json:"removedAfter,omitempty"`
	// Error is why the last attempt failed.
	Error string `json:"error,omitempty"`
}

// encryptionProgress is what is only known to this process.
type encryptionProgress struct {
	rewrite.Progress

	failure string
}

// Encryption changes the key with which objects are stored.
type Encryption struct {
	clock clock.WithTicker
	log   logr.Logger
	keys  *identity.Garden
	api   serving
	// snapshots saves the garden; nil if it takes no snapshots.
	snapshots *backup.Keeper
	signals   *Signals
	progress  atomic.Pointer[encryptionProgress]
}

// mayStart returns why the key with which objects are stored cannot be changed.
func (e *Encryption) mayStart() error {
	r, err := e.keys.Encryption.Rotation()
	if err == nil && r != nil {
		err = identity.ErrRotating
	}
	if err == nil {
		err = e.keys.Encryption.Fixed()
	}
	if err != nil {
		return RefusedError{fmt.Errorf("rotation of the encryption key: %w", err)}
	}

	return nil
}

// start begins a change of the key with which objects are stored.
func (e *Encryption) start() error {
	err := e.keys.Changes.StartEncryptionRotation(e.clock.Now())
	if errors.Is(err, identity.ErrRotating) || errors.Is(err, identity.ErrEncryptionFixed) {
		return RefusedError{fmt.Errorf("rotation of the encryption key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("rotate encryption key: %w", err)
	}
	e.signals.wakeEncryption()
	e.signals.tellGarden()

	return nil
}

// Status returns how far the rotation is; nil if none goes on.
func (e *Encryption) Status() (*EncryptionStatus, error) {
	r, err := e.keys.Encryption.Rotation()
	if r == nil || err != nil {
		return nil, err
	}
	is := &EncryptionStatus{EncryptionRotation: *r, Next: r.Next}
	if p := e.progress.Load(); p != nil {
		is.Done, is.Total, is.Error = p.Done, p.Total, p.failure
	}
	if r.Rewritten != nil {
		is.RemovedAfter = new(r.Rewritten.Add(encryptionOverlap))
	}

	return is, nil
}

// Run takes the steps of rotations. It goes on where an earlier process has stopped.
func (e *Encryption) Run(ctx context.Context, ready func()) error {
	ready()
	for {
		pause, err := e.advance(ctx)
		if err != nil && ctx.Err() == nil {
			pause = max(pause, encryptionRetry)
			e.note(func(p *encryptionProgress) { p.failure = err.Error() })
			e.log.Error(err, "Encryption key not changed; trying again", "after", pause)
		}
		timer := e.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()

			return nil
		case <-timer.C():
		case <-e.signals.encryption:
			timer.Stop()
		}
	}
}

// advance takes steps until it has to wait, and returns how long.
func (e *Encryption) advance(ctx context.Context) (time.Duration, error) {
	for ctx.Err() == nil {
		r, err := e.keys.Encryption.Rotation()
		if r == nil || err != nil {
			return certificatesPause, err
		}
		if r.Next == identity.EncryptionRemove {
			if left := r.Rewritten.Add(encryptionOverlap).Sub(e.clock.Now()); left > 0 {
				return min(left, certificatesPause), nil
			}
		}
		// Whatever has gone wrong before, from here on this process uses the keys in the file that the step was derived from.
		if err := e.api().ReloadEncryption(ctx); err != nil {
			return 0, err
		}
		if err := e.prepare(ctx, r.Next); err != nil {
			return 0, err
		}
		if err := e.keys.Changes.AdvanceEncryptionRotation(r.Next, e.clock.Now()); err != nil {
			return 0, err
		}
		e.log.Info("Encryption key rotation advanced", "key", r.Key, "step", r.Next)
		e.signals.tellGarden()
	}

	return certificatesPause, nil
}

// prepare does what has to be done before a step is taken.
func (e *Encryption) prepare(ctx context.Context, step identity.EncryptionStep) error {
	switch step {
	case identity.EncryptionAdd:
		e.progress.Store(nil)
	case identity.EncryptionWrite, identity.EncryptionEnd:
		// What is saved after a snapshot is restored with the keys in it. So no object is written with a key that is not in one. And
		// the last one has the new key alone.
		if e.snapshots == nil {
			return nil
		}
		if _, err := e.snapshots.Take(ctx); err != nil {
			return fmt.Errorf("take snapshot with the new key: %w", err)
		}
	case identity.EncryptionRewrite, identity.EncryptionRemove:
		// Before the removal this finds what requests that had begun before the change wrote with the former key.
		return e.api().Reencrypt(ctx, func(is rewrite.Progress) {
			e.note(func(p *encryptionProgress) { *p = encryptionProgress{Progress: is} })
		})
	}

	return nil
}

// note changes what is known about the progress.
func (e *Encryption) note(change func(*encryptionProgress)) {
	var p encryptionProgress
	if is := e.progress.Load(); is != nil {
		p = *is
	}
	change(&p)
	e.progress.Store(&p)
}
