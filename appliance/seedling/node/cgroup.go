// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Cgroups are the hierarchies of control groups of this machine: one for all controllers (version 2), or one for each (version 1).
type Cgroups struct {
	// Roots are the folders where the hierarchies are mounted.
	Roots []string
	// Unified is true if there is one hierarchy of version 2 with controllers, and none of version 1.
	Unified bool
}

// FindCgroups finds where the control groups are mounted.
func FindCgroups() (Cgroups, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Cgroups{}, fmt.Errorf("read mounts: %w", err)
	}
	return ParseCgroups(string(content)), nil
}

// ParseCgroups does the same for a given table of mounts, in the format of /proc/self/mountinfo.
func ParseCgroups(mountinfo string) Cgroups {
	var legacy, unified []string
	for line := range strings.Lines(mountinfo) {
		before, after, found := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 5 || len(kind) == 0 {
			continue
		}
		switch kind[0] {
		case "cgroup":
			legacy = append(legacy, unescape(fields[4]))
		case "cgroup2":
			unified = append(unified, unescape(fields[4]))
		default:
		}
	}
	return Cgroups{Roots: append(legacy, unified...), Unified: len(legacy) == 0}
}

// Make creates a group of that name in every hierarchy.
func (c Cgroups) Make(name string) error {
	if err := c.delegate(); err != nil {
		return err
	}
	for _, root := range c.Roots {
		group := filepath.Join(root, name)
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // Groups are not secret.
			return fmt.Errorf("make control group: %w", err)
		}
		// A new group of the cpuset controller cannot contain processes until it has processors and memory.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if c.Unified {
				break
			}
			if err := inherit(filepath.Join(root, file), filepath.Join(group, file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate enables the controllers that a kubelet requires for the groups below the root of the version 2 hierarchy.
// Controllers are never disabled again, because others may use them by then.
func (c Cgroups) delegate() error {
	if !c.Unified {
		return nil
	}
	for _, root := range c.Roots {
		available, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")) //nolint:gosec // The path belongs to the kernel.
		if err != nil {
			return fmt.Errorf("read controllers of control groups: %w", err)
		}
		for controller := range strings.FieldsSeq(string(available)) {
			if !slices.Contains([]string{"cpu", "cpuset", "memory", "hugetlb", "pids"}, controller) {
				continue
			}
			//nolint:gosec // The file belongs to the kernel, its mode does not change.
			if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
				return fmt.Errorf("delegate controller %q: %w", controller, err)
			}
		}
	}
	return nil
}

func inherit(parent, child string) error {
	value, err := os.ReadFile(parent) //nolint:gosec // The path belongs to the kernel.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read control group: %w", err)
	}
	current, err := os.ReadFile(child) //nolint:gosec // The path belongs to the kernel.
	if err != nil {
		return fmt.Errorf("read control group: %w", err)
	}
	if strings.TrimSpace(string(current)) != "" {
		return nil
	}
	if err := os.WriteFile(child, value, 0o644); err != nil { //nolint:gosec // The file belongs to the kernel, its mode does not change.
		return fmt.Errorf("set up control group: %w", err)
	}
	return nil
}

// Remove kills all processes in the group of that name and in its subgroups, in all hierarchies, and removes the groups.
// It returns how many processes were killed and how many groups were removed.
func (c Cgroups) Remove(ctx context.Context, name string) (killed, removed int, err error) {
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		left := 0
		for _, root := range c.Roots {
			k, r, l, err := removeGroup(filepath.Join(root, name))
			if err != nil {
				return false, err
			}
			killed, removed, left = killed+k, removed+r, left+l
		}
		return left == 0, nil
	})
	if err != nil {
		return killed, removed, fmt.Errorf("remove control group %q: %w", name, err)
	}
	return killed, removed, nil
}

// removeGroup makes one attempt and returns how many groups are left, because processes take a moment to end.
//
//nolint:revive // Three counts and an error of one recursive walk, used in one place.
func removeGroup(group string) (killed, removed, left int, err error) {
	entries, err := os.ReadDir(group)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, 0, nil
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("list control group: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		k, r, l, err := removeGroup(filepath.Join(group, entry.Name()))
		if err != nil {
			return killed, removed, left, err
		}
		killed, removed, left = killed+k, removed+r, left+l
	}
	content, err := os.ReadFile(filepath.Join(group, "cgroup.procs")) //nolint:gosec // The path belongs to the kernel.
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
		return killed, removed, left, fmt.Errorf("list processes of control group: %w", err)
	}
	for field := range strings.FieldsSeq(string(content)) {
		pid, err := strconv.Atoi(field)
		if err == nil && pid > 0 && unix.Kill(pid, unix.SIGKILL) == nil {
			killed++
		}
	}
	if err := unix.Rmdir(group); err != nil && !errors.Is(err, unix.ENOENT) {
		return killed, removed, left + 1, nil
	}
	return killed, removed + 1, left, nil
}
