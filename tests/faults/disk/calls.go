// SPDX-License-Identifier: Apache-2.0

package disk

// The folder in the flags keeps two checkouts from sharing what cgo wrote: it carries the path of the checkout that compiled it,
// which is where the linter looks for this file. If the file is not there, the linter filters no finding at all.

// #cgo CFLAGS: -I${SRCDIR}
// #include "calls.h"
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Kind is what a call does to a file.
type Kind int

// The kinds of calls.
const (
	Write Kind = iota
	Cut
	Sync
	Remove
)

// disks are those of this process, by their folders. Calls come from C, which knows nothing else.
var disks struct {
	mutex sync.Mutex
	all   map[string]*Disk
	// open are the calls between diskBefore and diskAfter.
	open map[int]call
	next int
}

// call is one call of SQLite's.
type call struct {
	disk           *Disk
	kind           Kind
	path           string
	offset, length int64
}

//export diskBefore
func diskBefore(kind, fd C.int, path *C.char, offset, length C.longlong) C.int {
	var name string
	if path != nil {
		name = C.GoString(path)
	} else {
		name, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int(fd)))
	}
	disks.mutex.Lock()
	d := disks.all[filepath.Dir(name)]
	if d == nil {
		d = disks.all[name]
	}
	disks.mutex.Unlock()
	if d == nil {
		return -1
	}
	c := call{disk: d, kind: Kind(kind), path: name, offset: int64(offset), length: int64(length)}
	if !d.before(c) {
		return C.DISK_FULL
	}
	disks.mutex.Lock()
	defer disks.mutex.Unlock()
	disks.next++
	disks.open[disks.next] = c

	return C.int(disks.next)
}

//export diskAfter
func diskAfter(handle, done C.int) {
	disks.mutex.Lock()
	c := disks.open[int(handle)]
	delete(disks.open, int(handle))
	disks.mutex.Unlock()
	c.disk.after(c, done != 0)
}

func register(d *Disk) {
	disks.mutex.Lock()
	defer disks.mutex.Unlock()
	if disks.all == nil {
		disks.all, disks.open = map[string]*Disk{}, map[int]call{}
	}
	disks.all[d.dir] = d
	C.disk_watch()
}

func unregister(d *Disk) {
	disks.mutex.Lock()
	defer disks.mutex.Unlock()
	delete(disks.all, d.dir)
}
