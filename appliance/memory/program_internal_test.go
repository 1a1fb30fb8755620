// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestReadMappings(t *testing.T) {
	t.Parallel()

	const text = `00401000-03d01000 r-xp 00001000 fe:00 11289388                           /usr/bin/my garden
Rss:               58364 kB
Private_Dirty:       100 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
03d01000-07c79000 r--p 03901000 fe:00 11289388                           /usr/bin/my garden
Anonymous:             4 kB
Swap:                  4 kB
07c7f000-07d86000 rw-p 0787f000 fe:00 11289388                           /usr/bin/my garden
Anonymous:             0 kB
41908c00000-4191e400000 rw-p 00000000 00:00 0 
Anonymous:        174052 kB
7f216c000000-7f216c0b1000 r--p 00000000 fe:00 17                         /usr/lib/libc.so
Private_Dirty:         0 kB
`
	got, err := readMappings(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping{
		{start: 0x401000, end: 0x3d01000, permissions: "r-xp", file: "/usr/bin/my garden"},
		{start: 0x3d01000, end: 0x7c79000, permissions: "r--p", file: "/usr/bin/my garden", own: 8 << 10},
		{start: 0x7c7f000, end: 0x7d86000, permissions: "rw-p", file: "/usr/bin/my garden"},
		{start: 0x41908c00000, end: 0x4191e400000, permissions: "rw-p", own: 174052 << 10},
		{start: 0x7f216c000000, end: 0x7f216c0b1000, permissions: "r--p", file: "/usr/lib/libc.so"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("readMappings(...) (-want +got):\n%s", diff)
	}
	var returned []bool
	for _, m := range got {
		returned = append(returned, m.returnable("/usr/bin/my garden"))
	}
	if diff := cmp.Diff([]bool{true, false, false, false, false}, returned); diff != "" {
		t.Errorf("Only what can be read from the program again is returned.\nreturnable(...) (-want +got):\n%s", diff)
	}
	for _, text := range []string{"00401000", "xyz r-xp 00001000 fe:00 17", "00401000-00402000 r-xp 0 fe:00 17\nAnonymous: much kB"} {
		if _, err := readMappings(strings.NewReader(text)); err == nil {
			t.Errorf("readMappings(%q): got no error", text)
		}
	}
}

// TestReturnProgram maps the program once more, so that nothing else brings pages of that mapping back.
func TestReturnProgram(t *testing.T) {
	t.Parallel()

	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	content, err := io.ReadAll(program)
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(program.Fd()), 0, len(content), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	if !bytes.Equal(content, mapped) {
		t.Fatal("the mapping differs from the file")
	}
	before := resident(t, mapped)
	if err := returnProgram(); err != nil {
		t.Fatal(err)
	}
	if after := resident(t, mapped); before < len(content) || after > 0 {
		t.Errorf("Pages of the program are given back.\nresident: got %d bytes after %d of %d, want 0", after, before, len(content))
	}
	if !bytes.Equal(content, mapped) {
		t.Error("Pages that were given back come back with other content.")
	}
}

// resident returns how many bytes of a mapping are in memory.
func resident(t *testing.T, part []byte) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(raw, fmt.Appendf(nil, "%x-", uintptr(unsafe.Pointer(unsafe.SliceData(part)))))
	if !found {
		t.Fatal("no such mapping")
	}
	_, rest, _ = bytes.Cut(rest, []byte("Rss:"))
	n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}

	return n << 10
}
