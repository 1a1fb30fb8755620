// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"sync"
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

// Sharing is how all servers of a garden come to have the same keys and authorities: the one that leads publishes each change before it
// makes it, and the others take it up.
type Sharing struct {
	// dir is the data directory, here what is in it.
	dir  string
	here *material
	// changing guards changes of keys and authorities, which may take long: the lock of the material is only held while they come into
	// effect.
	changing sync.Mutex
	// publish makes such changes known to other servers before; nil if there are none.
	publish Publish
	// unread says that there are keys in the directory that this process has not read; changing guards it.
	unread bool
}

// Share has all further changes of keys and authorities published before they are made here: so none is in use that other servers cannot
// have. It is called before the garden runs.
func (s *Sharing) Share(publish Publish) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.publish = publish
}

// Held returns which generation of the keys this garden has.
func (s *Sharing) Held() (Generation, error) { return Held(s.dir) }

// Proposal returns the keys of this directory as the generation after the last one, if they are to be published when this server takes the
// lead: if none ever were, or if AllowPublication says so. Otherwise it returns nil. Keys that changed beside the rotations are never
// published by themselves: who leads by chance would give everybody what somebody has put into its directory by mistake.
func (s *Sharing) Proposal(published *Generation) (*Sealed, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	is, err := readHeld(s.dir)
	if err != nil {
		return nil, err
	}
	last := is.last()
	if published == nil && last.Number == 0 {
		// Both are among the files.
		_, ownerErr := DatastoreOwner(s.dir)
		if _, err := sealingKey(s.dir); err != nil || ownerErr != nil {
			return nil, errors.Join(err, ownerErr)
		}
	}
	files, err := sharedFiles(s.dir)
	if err != nil {
		return nil, err
	}
	here := digestOf(files)
	if published != nil && is.Generation == *published && here == published.Digest {
		return nil, endPublication(s.dir)
	}
	allowed, err := publicationAllowed(s.dir, here)
	if err != nil {
		return nil, err
	}
	switch {
	case published == nil && (last.Number == 0 || allowed), published != nil && allowed && published.Number <= is.Number:
		return sealNext(s.dir, last, files)
	case published == nil:
		return nil, lost(last)
	default:
		return nil, unpublished(s.dir, *published)
	}
}

// MayBegin returns why this directory must not publish its keys in a datastore that has none: it had some.
func (s *Sharing) MayBegin() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	is, err := readHeld(s.dir)
	if err != nil || is.last().Number == 0 {
		return err
	}
	files, err := sharedFiles(s.dir)
	if err != nil {
		return err
	}
	allowed, err := publicationAllowed(s.dir, digestOf(files))
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
func (s *Sharing) Hold(is Generation) error {
	s.changing.Lock()
	defer s.changing.Unlock()

	return errors.Join(writeHeld(s.dir, held{Generation: is}), endPublication(s.dir))
}
