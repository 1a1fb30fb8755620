// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// checkLimit is how long a verification may take.
const checkLimit = time.Hour

var (
	// ErrChecking says that another snapshot is being verified.
	ErrChecking = errors.New("another snapshot is being verified: wait until it is done")
	// ErrStopping says that the server ends.
	ErrStopping = errors.New("the server is stopping")
)

// CheckState is how far a verification is.
type CheckState string

// The states of a verification.
const (
	CheckRunning   CheckState = "Running"
	CheckSucceeded CheckState = "Succeeded"
	CheckFailed    CheckState = "Failed"
)

// Check says what became of reading a snapshot and its increments again.
type Check struct {
	State CheckState
	// Began is when it was begun, and Ended when it was done.
	Began, Ended time.Time
	// Files is the number of files that are well.
	Files int
	// Blind says that there is no key, so that only checksums were compared.
	Blind bool
	// Problem says what is wrong.
	Problem string
}

// Check begins to read a snapshot and the increments that go on from it to their end, and returns at once: the list says what became of
// it. One snapshot is verified at a time. Snapshots are taken meanwhile.
func (k *Keeper) Check(ctx context.Context, name string) error {
	var (
		files []Entry
		in    Store
	)
	err := k.locked(ctx, func() error {
		all, err := k.store.List(ctx)
		if err != nil {
			return err
		}
		tails := tails(all)
		for i, e := range snapshots(all) {
			if e.Name == name {
				files, in = append([]Entry{e}, tails[i].Files...), k.store
			}
		}
		if in == nil {
			return fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
		}

		return nil
	})
	if err != nil {
		return err
	}
	if began, err := k.beginCheck(name); err != nil || !began {
		return err
	}
	go func() {
		defer k.checking.Done()
		work, end := k.untilStop(context.WithoutCancel(ctx), checkLimit)
		defer end()
		well, err := k.checkFiles(work, in, files)
		k.endCheck(name, well, err)
	}()

	return nil
}

// beginCheck reports whether a verification is to be begun: of a snapshot that is being verified, it goes on.
func (k *Keeper) beginCheck(name string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return false, ErrStopping
	}
	for other, is := range k.checks {
		if is.State != CheckRunning {
			continue
		}
		if other == name {
			return false, nil
		}

		return false, fmt.Errorf("verify snapshot %q: %w", name, ErrChecking)
	}
	k.checks[name] = Check{State: CheckRunning, Began: k.config.Clock.Now(), Blind: k.blind()}
	k.checking.Add(1)

	return true, nil
}

// checkFiles reads a snapshot and its increments, and returns how many are well. Increments that are removed meanwhile are no longer needed.
func (k *Keeper) checkFiles(ctx context.Context, in Store, files []Entry) (well int, err error) {
	for _, e := range files {
		err := k.checkFile(ctx, in, e.Name)
		if errors.Is(err, ErrNotFound) && e.Kind == Increment {
			continue
		}
		if err != nil {
			return well, fmt.Errorf("%s: %w", e.Name, err)
		}
		well++
	}

	return well, nil
}

func (k *Keeper) checkFile(ctx context.Context, in Store, name string) error {
	f, err := in.Open(ctx, name)
	if err != nil {
		return err
	}

	return errors.Join(k.readAll(while{File: f, stopped: ctx.Err}, name), f.Close())
}

func (k *Keeper) endCheck(name string, files int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	is := k.checks[name]
	is.State, is.Ended, is.Files = CheckSucceeded, k.config.Clock.Now(), files
	if err != nil {
		is.State, is.Problem = CheckFailed, err.Error()
		k.config.Log.Error(err, "A snapshot was verified, and is not well", "name", name)
	}
	k.checks[name] = is
}

// endChecks waits for the verification that runs, which sees that the keeper stops.
func (k *Keeper) endChecks() {
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	k.checking.Wait()
}

// check returns the last verification of a snapshot.
func (k *Keeper) check(name string) *Check {
	k.mu.Lock()
	defer k.mu.Unlock()
	if is, ok := k.checks[name]; ok {
		return &is
	}

	return nil
}

// forget forgets the verifications of snapshots that are no longer there.
func (k *Keeper) forget(but []Kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, is := range k.checks {
		there := false
		for _, e := range but {
			there = there || e.Name == name
		}
		if !there && is.State != CheckRunning {
			delete(k.checks, name)
		}
	}
}

// untilStop returns a context that ends with the keeper, and after a time.
func (k *Keeper) untilStop(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	work, end := context.WithTimeout(ctx, limit)
	go func() {
		select {
		case <-k.stopping:
			end()
		case <-work.Done():
		}
	}()

	return work, end
}

// Open opens a snapshot as it is stored: encrypted. Reads fail once the keeper stops.
func (k *Keeper) Open(ctx context.Context, name string) (f File, err error) {
	err = k.locked(ctx, func() error {
		f, err = k.file(ctx, name)

		return err
	})
	if err != nil {
		return nil, err
	}
	stopped := func() error {
		select {
		case <-k.stopping:
			return ErrStopping
		default:
			return ctx.Err()
		}
	}

	return while{File: f, stopped: stopped}, nil
}

// while is a file that can be read until it is stopped.
type while struct {
	File

	stopped func() error
}

var _ io.ReaderAt = while{}

// ReadAt implements io.ReaderAt.
func (w while) ReadAt(p []byte, at int64) (int, error) {
	if err := w.stopped(); err != nil {
		return 0, err
	}

	return w.File.ReadAt(p, at)
}
