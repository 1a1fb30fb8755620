// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
)

// Clients have seen revisions that were not saved, and maybe those of another restore of the same file. None of them may become
// that of another state: a restored garden goes on far beyond all that is known of, and beyond what a garden could have reached by
// writing since 1970 without a pause.
const (
	jump      = 1_000_000_000
	perSecond = 100_000
)

// beyond is where a garden goes on after a revision.
func beyond(known int64, now time.Time) int64 { return max(known+jump, now.Unix()*perSecond) }

// Restore makes a data directory.
type Restore struct {
	// DataDir is the directory that is made. It must be missing or empty, unless Force is set.
	DataDir string
	// Force moves what is in the directory aside.
	Force bool
	// Lock locks a data directory for this process; the error says that a server uses it.
	Lock func(dir string) (release func() error, err error)
	// Store has the files; or File is the path of one snapshot, and Want is not looked at.
	Store Store
	File  string
	Want  Target
	// Identities open the files.
	Identities []age.Identity
	// Now is the time.
	Now time.Time
}

// Restored says what was restored.
type Restored struct {
	// Snapshot says what the snapshot was, and Increments how many were added to it.
	Snapshot   Manifest `json:"snapshot"`
	Increments int      `json:"increments"`
	// Until is the time of the state: all writes before it are there.
	Until time.Time `json:"until"`
	// Revision is the revision of the state, and Next the one after which the garden goes on.
	Revision int64 `json:"revision"`
	Next     int64 `json:"next"`
	// Objects and Events are the numbers of keys.
	Objects int64 `json:"objects"`
	Events  int64 `json:"events"`
	// Earlier says that the garden is known to have gone on after this state, or may have.
	Earlier bool `json:"earlier"`
	// Aside is where the directory is now that was there before; empty if there was none.
	Aside string `json:"aside,omitempty"`
}

// ErrNotEmpty says that a directory has something in it.
var ErrNotEmpty = errors.New("it is not empty")

// Run restores. The directory is as it was if the error is not nil.
func (r Restore) Run(ctx context.Context) (done Restored, err error) {
	dir, err := filepath.Abs(r.DataDir)
	if err != nil {
		return Restored{}, fmt.Errorf("find data directory: %w", err)
	}
	p := newPlace(dir, r.Force)
	release, err := p.claim(r.Lock)
	if err != nil {
		return Restored{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	files, newest, err := r.files(ctx)
	if err != nil {
		return Restored{}, err
	}
	stage, err := p.stage()
	if err != nil {
		return Restored{}, err
	}
	defer func() {
		if !p.done {
			err = errors.Join(err, os.RemoveAll(stage))
		}
	}()
	b := &building{dir: stage, identities: r.Identities, want: r.Want, newest: newest, now: r.Now}
	if done, err = b.run(ctx, files[0], files[1:]); err != nil {
		return Restored{}, err
	}
	done.Earlier = r.File != "" || done.Revision < newest.Objects.To
	if err := syncTree(stage); err != nil {
		return Restored{}, err
	}
	done.Aside, err = p.put(stage, r.Now)

	return done, err
}

// opener opens a file.
type opener struct {
	name string
	// kept says that the name is that in a store, by which the file was chosen.
	kept bool
	open func() (File, error)
}

// check compares the name by which a file was chosen with what the file is: anyone who can write to a folder can rename files in it.
func (o opener) check(is Manifest) error {
	if !o.kept {
		return nil
	}

	return is.CheckName(o.name)
}

// files returns the snapshot and the increments after it, and the newest revisions that are known of.
func (r Restore) files(ctx context.Context) (files []opener, newest Entry, err error) {
	if r.File != "" {
		return []opener{{name: r.File, open: func() (File, error) { return OpenFile(r.File) }}}, Entry{}, nil
	}
	all, err := r.Store.List(ctx)
	if err != nil {
		return nil, Entry{}, err
	}
	from := all
	if r.Want.Name == "" && r.Want.Time.IsZero() {
		from = believed(all, r.Now)
	}
	first, increments, err := choose(from, r.Want, func(last, next Entry) (bool, error) { return follows(ctx, r.Store, r.Identities, last.Name, next.Name) })
	if err != nil {
		return nil, Entry{}, fmt.Errorf("choose snapshot in %s: %w", r.Store, err)
	}
	of := func(name string) opener {
		return opener{name: name, kept: true, open: func() (File, error) { return r.Store.Open(ctx, name) }}
	}
	files = append(files, of(first.Name))
	for _, e := range increments {
		files = append(files, of(e.Name))
	}
	for _, e := range all {
		newest.Objects.To = max(newest.Objects.To, e.Objects.To)
		newest.Events.To = max(newest.Events.To, e.Events.To)
	}

	return files, newest, nil
}
