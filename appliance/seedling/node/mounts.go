// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Mounts returns the mount points at or below the given folders, in the order in which they can be unmounted: the
// innermost and latest first.
func Mounts(folders ...string) ([]string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	return ParseMounts(string(content), folders...), nil
}

// ParseMounts does the same for a given table of mounts, in the format of /proc/self/mountinfo.
func ParseMounts(mountinfo string, folders ...string) []string {
	const mountPoint = 4
	var found []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) <= mountPoint {
			continue
		}
		point := unescape(fields[mountPoint])
		if slices.ContainsFunc(folders, func(folder string) bool { return point == folder || strings.HasPrefix(point, folder+"/") }) {
			found = append(found, point)
		}
	}
	slices.Reverse(found)
	return found
}

// unescape undoes the octal escapes that the kernel uses for blanks and backslashes.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// Unmount unmounts everything at or below the given folders and returns the number of mounts. A mount that is still in
// use is detached now, and unmounted when its last user ends.
func Unmount(folders ...string) (int, error) {
	points, err := Mounts(folders...)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, point := range points {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EBUSY) {
			err = unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
		if err != nil && !errors.Is(err, unix.EINVAL) {
			failed = append(failed, fmt.Errorf("unmount %q: %w", point, err))
		}
	}
	return len(points), errors.Join(failed...)
}
