// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var (
	// ErrOlderGeneration says that what others publish is older than what this directory had already.
	ErrOlderGeneration = errors.New("the datastore has an older generation of the keys than this data directory")
	// ErrUnpublished says that this directory has keys that no other has, and that would be lost.
	ErrUnpublished = errors.New("the keys in this data directory were changed without the datastore")
	// ErrLost says that there are no keys where there were some.
	ErrLost = errors.New("the datastore has no keys anymore")
)

// Sealed are keys and authorities as they are given to other servers: nobody can read them who does not have the key of the bundle.
type Sealed struct {
	Generation

	// Content is encrypted.
	Content []byte
}

// Publish makes keys known to all servers. From and to are the generations before and after; if the servers do not have from, the error
// says so and nothing is published.
type Publish func(from Generation, to Sealed) error

// Share has all further changes of keys and authorities published before they are made here: so none is in use that other servers cannot
// have. It is called before the garden runs.
func (g *Garden) Share(publish Publish) {
	g.changing.Lock()
	defer g.changing.Unlock()
	g.publish = publish
}

// Held returns which generation of the keys this garden has.
func (g *Garden) Held() (Generation, error) { return Held(g.Dir) }

// Proposal returns the keys of this directory as the generation after the last one, if they are to be published when this server takes the
// lead: if none ever were, or if AllowPublication says so. Otherwise it returns nil. Keys that changed beside the rotations are never
// published by themselves: who leads by chance would give everybody what somebody has put into its directory by mistake.
func (g *Garden) Proposal(published *Generation) (*Sealed, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	is, err := readHeld(g.Dir)
	if err != nil {
		return nil, err
	}
	last := is.last()
	if published == nil && last.Number == 0 {
		// Both are among the files.
		_, ownerErr := DatastoreOwner(g.Dir)
		if _, err := sealingKey(g.Dir); err != nil || ownerErr != nil {
			return nil, errors.Join(err, ownerErr)
		}
	}
	files, err := sharedFiles(g.Dir)
	if err != nil {
		return nil, err
	}
	here := digestOf(files)
	if published != nil && is.Generation == *published && here == published.Digest {
		return nil, endPublication(g.Dir)
	}
	allowed, err := publicationAllowed(g.Dir, here)
	if err != nil {
		return nil, err
	}
	switch {
	case published == nil && (last.Number == 0 || allowed), published != nil && allowed && published.Number <= is.Number:
		return sealNext(g.Dir, last, files)
	case published == nil:
		return nil, lost(last)
	default:
		return nil, unpublished(g.Dir, *published)
	}
}

// MayBegin returns why this directory must not publish its keys in a datastore that has none: it had some.
func (g *Garden) MayBegin() error {
	g.changing.Lock()
	defer g.changing.Unlock()
	is, err := readHeld(g.Dir)
	if err != nil || is.last().Number == 0 {
		return err
	}
	files, err := sharedFiles(g.Dir)
	if err != nil {
		return err
	}
	allowed, err := publicationAllowed(g.Dir, digestOf(files))
	if err != nil || allowed {
		return err
	}

	return lost(is.last())
}

func lost(last Generation) error {
	return fmt.Errorf("%w, and this data directory has generation %d; if it was restored from a backup or is a new one, stop all servers, "+
		"run \"terrarium bundle publish\" on the one with the newest keys, and start it first", ErrLost, last.Number)
}

func sealNext(dir string, from Generation, files map[string][]byte) (*Sealed, error) {
	next := Sealed{Generation: Generation{Number: from.Number + 1, Digest: digestOf(files)}}
	var err error
	next.Content, err = seal(dir, next.Generation, files)

	return &next, err
}

// Hold notes that this directory has a generation that it has published.
func (g *Garden) Hold(is Generation) error {
	g.changing.Lock()
	defer g.changing.Unlock()

	return errors.Join(writeHeld(g.Dir, held{Generation: is}), endPublication(g.Dir))
}

// change makes a step of a rotation. If the keys are shared, the step is first made on a copy, then published, and only then made here: a
// server that ends in between, here or elsewhere, takes it up from what was published.
func (g *Garden) change(now time.Time, step func(*Garden) error) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	if g.publish == nil {
		g.mu.Lock()
		defer g.mu.Unlock()

		return step(g)
	}
	from, err := readHeld(g.Dir)
	if err != nil {
		return err
	}
	before, err := sharedFiles(g.Dir)
	if err != nil {
		return err
	}
	if from.Next == nil && digestOf(before) != from.Digest {
		return unpublished(g.Dir, from.Generation)
	}
	after, err := g.rehearse(now, step)
	if err != nil || maps.EqualFunc(before, after, bytes.Equal) {
		return err
	}
	next, err := sealNext(g.Dir, from.Generation, after)
	if err != nil {
		return err
	}
	if err := g.publish(from.Generation, *next); err != nil {
		return err
	}

	return g.apply(next.Generation, after, now)
}

// rehearse makes a step on a copy, and returns the files that come out.
func (g *Garden) rehearse(now time.Time, step func(*Garden) error) (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp(g.Dir, pkiStagingDirPattern)
	if err != nil {
		return nil, directoryError(g.Dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(filepath.Join(dir, pkiDir), regular{os.DirFS(filepath.Join(g.Dir, pkiDir))}); err != nil {
		return nil, fmt.Errorf("copy keys and certificates: %w", err)
	}
	g.mu.RLock()
	staged := newGarden(dir)
	staged.Certificates.names = g.Certificates.names
	g.mu.RUnlock()
	if err := staged.load(now); err != nil {
		return nil, err
	}
	if err := staged.WorkloadIdentity.read(Layout); err != nil {
		return nil, err
	}
	if err := step(staged); err != nil {
		return nil, err
	}

	return sharedFiles(dir)
}

// regular leaves out what a write has not finished.
type regular struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (r regular) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.FS, name)

	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() && e.Name() != "." || strings.HasPrefix(e.Name(), ".tmp-")
	}), err
}

// apply writes the files of a generation in place, for a garden that runs: who watches them sees each change. What the keys belong to is
// written before the keys.
func (g *Garden) apply(to Generation, files map[string][]byte, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	is, err := readHeld(g.Dir)
	if err != nil {
		return err
	}
	before, err := sharedFiles(g.Dir)
	if err != nil {
		return err
	}
	if err := writeHeld(g.Dir, held{Generation: is.Generation, Next: &to}); err != nil {
		return err
	}
	pki := filepath.Join(g.Dir, pkiDir)
	for _, name := range slices.SortedFunc(maps.Keys(files), keysLast) {
		if bytes.Equal(before[name], files[name]) {
			continue
		}
		if err := writeFile(filepath.Join(pki, name), files[name]); err != nil {
			return err
		}
	}
	for name := range before {
		if _, stays := files[name]; stays {
			continue
		}
		if err := os.Remove(filepath.Join(pki, name)); err != nil {
			return fmt.Errorf("take up keys: %w", err)
		}
	}
	if err := errors.Join(syncDir(pki), g.reread(now)); err != nil {
		return err
	}

	return writeHeld(g.Dir, held{Generation: to})
}

// keysLast orders files for apply.
func keysLast(a, b string) int {
	isKey := func(name string) bool { return strings.HasSuffix(name, ".key") }
	switch {
	case isKey(a) == isKey(b):
		return strings.Compare(a, b)
	case isKey(a):
		return 1
	default:
		return -1
	}
}

// reread reads all keys and authorities again, and issues what depends on them. The caller holds the lock.
func (g *Garden) reread(now time.Time) error {
	if err := g.authoritySteps().take(now); err != nil {
		return err
	}
	if err := g.ServiceAccount.read(); err != nil {
		return err
	}

	return g.WorkloadIdentity.read(Layout)
}
