// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is a part of the address space of this process.
type mapping struct {
	start, end uintptr
	// permissions are those of the kernel's list, like "r-xp"; file is the path of the file, empty if there is none.
	permissions, file string
	// own is how many of its bytes belong to this process alone, because they were written.
	own int64
}

// returnProgram gives the pages of the program file back to the kernel: most were needed for the start only. The others
// come back from the page cache when they are used next. Pages with content of their own, which would be lost, are left.
func returnProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read mappings: %w", err)
	}
	all, err := readMappings(file)
	_ = file.Close() // Nothing was written.
	if err != nil {
		return fmt.Errorf("read mappings: %w", err)
	}
	for _, m := range all {
		if !m.returnable(program) {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("return pages of the program: %w", errno)
		}
	}

	return nil
}

// returnable reports whether everything in the mapping can be read from the program file again.
func (m mapping) returnable(program string) bool {
	return m.file == program && (m.permissions == "r--p" || m.permissions == "r-xp") && m.own == 0
}

// readMappings reads a list of mappings in the form of /proc/PID/smaps: a line for each mapping, and below it a line for
// each property.
func readMappings(r io.Reader) ([]mapping, error) {
	var all []mapping
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		name, rest, _ := strings.Cut(line, " ")
		if !strings.HasSuffix(name, ":") {
			m, err := parseMapping(line)
			if err != nil {
				return nil, err
			}
			all = append(all, m)

			continue
		}
		if len(all) == 0 || name != "Anonymous:" && name != "Swap:" {
			continue
		}
		kibibytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		all[len(all)-1].own += kibibytes << 10
	}

	return all, lines.Err()
}

// parseMapping reads a line like "00400000-00401000 r-xp 00001000 fe:00 1234   /usr/bin/terrarium".
func parseMapping(line string) (mapping, error) {
	const columns = 5 // Addresses, permissions, offset, device, inode; then the file.
	fields := strings.Fields(line)
	if len(fields) < columns {
		return mapping{}, fmt.Errorf("line %q: too short", line)
	}
	var start, end uintptr
	if _, err := fmt.Sscanf(fields[0], "%x-%x", &start, &end); err != nil {
		return mapping{}, fmt.Errorf("line %q: %w", line, err)
	}
	_, file, _ := strings.Cut(line, "/")
	if file != "" {
		file = "/" + file
	}

	return mapping{start: start, end: end, permissions: fields[1], file: file}, nil
}
