// SPDX-License-Identifier: Apache-2.0

// Package memory sets how much memory a process takes.
package memory

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

const (
	// Least is the smallest limit with which a garden works.
	Least = 256 << 20
	// starting is what a process may take until it is ready: more than it needs, so that nothing is collected then, and
	// less than what a small machine has.
	starting = 512 << 20
	// growth is how much the heap may grow between two collections, as a percentage of what lives: Go's own 100 makes a
	// garden under load take a fifth more memory, and saves a twentieth of its processor time.
	growth = 70
	// share is the part of the machine's memory that the limit is by default.
	share = 2
)

// Default returns the limit for this machine: half of what the process can get, Least at least. root is where the files of
// the kernel are found, "/" outside of tests.
func Default(root string) int64 {
	limits := append(
		groupLimits(root),
		number(filepath.Join(root, "sys/fs/cgroup/memory/memory.limit_in_bytes"), "", 1),
		number(filepath.Join(root, "proc/meminfo"), "MemTotal:", 1<<10),
	)
	limit := int64(math.MaxInt64)
	for _, found := range limits {
		if found > 0 {
			limit = min(limit, found)
		}
	}
	if limit == math.MaxInt64 {
		return 1 << 30
	}
	return max(limit/share, Least)
}

// groupLimits returns the limits (cgroup v2) of the own group and of all above it, each of which counts: a service manager sets that of a
// unit or of a slice of units. A container mostly sees its own group as the root.
func groupLimits(root string) []int64 {
	const groups = "sys/fs/cgroup"
	var limits []int64
	for group := ownGroup(root); ; group = path.Dir(group) {
		limits = append(limits, number(filepath.Join(root, groups, group, "memory.max"), "", 1))
		if group == "/" {
			return limits
		}
	}
}

// ownGroup returns the path of the own group below the root of all groups (cgroup v2), which is "/".
func ownGroup(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) //nolint:gosec // The file is the kernel's.
	if err != nil {
		return "/"
	}
	for line := range strings.Lines(string(text)) {
		if group, found := strings.CutPrefix(line, "0::"); found {
			// A group above the root that a container sees begins with "/..".
			return path.Clean("/" + strings.TrimSuffix(group, "\n"))
		}
	}
	return "/"
}

// number reads the number that follows a word in a file, in units of so many bytes; 0 if there is none.
func number(file, word string, unit int64) int64 {
	text, err := os.ReadFile(file) //nolint:gosec // The files are the kernel's.
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(text), word)
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return 0
	}
	return n * unit
}

// Limit makes the garbage collector keep the process near a limit, and leaves it out of the way until ready is called or the heap
// has become so large that it collects for the first time: a start that collects takes longer, and most of what it allocates stays.
// What the environment says about the collector (GOMEMLIMIT, GOGC) wins.
func Limit(limit int64) (ready func()) {
	given := debug.SetMemoryLimit(-1)
	if given != math.MaxInt64 {
		limit = given
	}
	percent := debug.SetGCPercent(-1)
	debug.SetMemoryLimit(min(limit, starting))
	ready = sync.OnceFunc(func() {
		debug.SetMemoryLimit(limit)
		if os.Getenv("GOGC") == "" {
			percent = growth
		}
		debug.SetGCPercent(percent)
	})
	// A large garden has more than a start may take. To stay within that, the collector would run without a pause.
	runtime.AddCleanup(&canary{}, func(settle func()) { settle() }, ready)

	return ready
}

// canary is an object that the first collection frees. It has a pointer, so that it does not share its memory with others.
type canary struct{ _ *canary }
