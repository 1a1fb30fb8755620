// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// sector is what a disk writes wholly or not at all.
const sector = 512

// Disk is a folder whose files SQLite writes as if they were on a disk of their own.
type Disk struct {
	dir, synced string
	delay       atomic.Int64
	syncs       atomic.Int64
	space       atomic.Int64

	// mutex is held while a call is made, so that nobody sees half of one.
	mutex   sync.Mutex
	unsaved map[string]*unsaved
	look    func()
}

// unsaved is what of a file was not synced.
type unsaved struct {
	sectors map[int64]bool
	// whole says that the file is another one than the one that was synced under its name.
	whole bool
}

// New makes a folder a disk. What is synced to its files is kept in another folder as well, for as long as that exists: it
// outlives the process. Release gives the folder back to the file system.
func New(dir, synced string) (*Disk, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(synced, 0o700))
	}
	if err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	d := &Disk{dir: dir, synced: synced, unsaved: map[string]*unsaved{}}
	d.space.Store(math.MaxInt64)
	if err := d.recall(); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	register(d)

	return d, nil
}

// recall finds what an earlier process has left unsaved.
func (d *Disk) recall() error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(d.dir, entry.Name())
		now, _, err := read(path)
		if err != nil {
			return err
		}
		kept, _, err := read(filepath.Join(d.synced, entry.Name()))
		if err != nil {
			return err
		}
		file := &unsaved{sectors: map[int64]bool{}}
		for at := 0; at < len(now); at += sector {
			end := min(at+sector, len(now))
			if end > len(kept) || !bytes.Equal(now[at:end], kept[at:end]) {
				file.sectors[int64(at/sector)] = true
			}
		}
		d.unsaved[path] = file
	}

	return nil
}

// Release makes the folder an ordinary one again.
func (d *Disk) Release() { unregister(d) }

// Delay makes each sync last.
func (d *Disk) Delay(by time.Duration) { d.delay.Store(int64(by)) }

// Syncs is the number of syncs so far.
func (d *Disk) Syncs() int64 { return d.syncs.Load() }

// Space bounds the bytes that all files may have together.
func (d *Disk) Space(bytes int64) { d.space.Store(bytes) }

// Look has a function called before each call that changes a file. Nothing changes while it runs.
func (d *Disk) Look(look func()) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.look = look
}

// before reports false if there is no space.
func (d *Disk) before(c call) bool {
	if c.kind == Sync {
		d.syncs.Add(1)
		time.Sleep(time.Duration(d.delay.Load()))
	}
	d.mutex.Lock()
	if c.kind == Write && !d.fits(c) {
		d.mutex.Unlock()

		return false
	}
	if d.look != nil {
		d.look()
	}

	return true
}

// fits tells whether there is space for what is written; what does not make a file larger has its place already.
func (d *Disk) fits(c call) bool {
	space := d.space.Load()
	if space == math.MaxInt64 {
		return true
	}
	info, err := os.Stat(c.path)
	grown := c.offset + c.length
	if err != nil || grown <= info.Size() {
		return true
	}
	used := grown - info.Size()
	entries, _ := os.ReadDir(d.dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			used += info.Size()
		}
	}

	return used <= space
}

func (d *Disk) after(c call, done bool) {
	defer d.mutex.Unlock()
	if !done {
		return
	}
	file := d.unsaved[c.path]
	if file == nil {
		file = &unsaved{sectors: map[int64]bool{}}
		d.unsaved[c.path] = file
	}
	switch c.kind {
	case Write:
		for at := c.offset / sector; at*sector < c.offset+c.length; at++ {
			file.sectors[at] = true
		}
	case Cut:
		// What is beyond the end is gone, and nothing of it comes back when the file grows again.
		if info, err := os.Stat(filepath.Join(d.synced, filepath.Base(c.path))); err == nil {
			for at := c.offset / sector; at*sector < info.Size(); at++ {
				file.sectors[at] = true
			}
		}
	case Remove:
		d.unsaved[c.path] = &unsaved{sectors: map[int64]bool{}, whole: true}
	case Sync:
		save := func() error { return d.save(c.path, file) }
		if c.path == d.dir {
			save = d.saveRemovals
		}
		if err := save(); err != nil {
			panic(fmt.Sprintf("keep what was synced of %q: %v", c.path, err))
		}
		delete(d.unsaved, c.path)
	}
}

// save keeps what is now synced of a file.
func (d *Disk) save(path string, file *unsaved) (err error) {
	now, err := os.Open(path) //nolint:gosec // The test's own.
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	flags := os.O_RDWR | os.O_CREATE
	if file.whole {
		flags |= os.O_TRUNC
	}
	kept, err := os.OpenFile(filepath.Join(d.synced, filepath.Base(path)), flags, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	info, err := now.Stat()
	if err != nil {
		return err
	}
	part := make([]byte, sector)
	for at := range file.sectors {
		n, err := now.ReadAt(part, at*sector)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := kept.WriteAt(part[:n], at*sector); err != nil {
			return err
		}
	}

	return kept.Truncate(info.Size())
}

// saveRemovals forgets what was synced of files that no longer exist: syncing a folder syncs which files it has.
func (d *Disk) saveRemovals() error {
	entries, err := os.ReadDir(d.synced)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(d.dir, entry.Name())); errors.Is(err, os.ErrNotExist) {
			if err := os.Remove(filepath.Join(d.synced, entry.Name())); err != nil {
				return err
			}
		}
	}

	return nil
}
