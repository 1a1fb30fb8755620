// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killed bounds the wait for a process that was killed; only a process that is stuck in the kernel takes longer.
const killed = 10 * time.Second

// End asks the process to end, and kills it after the grace period. It holds a file descriptor of the process, so the
// signals cannot reach another one. It succeeds if the process has ended already.
func (r Record) End(ctx context.Context, grace time.Duration) error {
	fd, err := unix.PidfdOpen(r.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", r.PID, err)
	}
	defer unix.Close(fd) //nolint:errcheck // Nothing was written.
	if !r.Alive() {      // checked after opening, so the descriptor is that of this process
		return nil
	}
	for _, step := range []struct {
		signal unix.Signal
		wait   time.Duration
	}{{unix.SIGTERM, grace}, {unix.SIGKILL, killed}} {
		if err := unix.PidfdSendSignal(fd, step.signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("signal process %d: %w", r.PID, err)
		}
		ended, err := awaitEnd(ctx, fd, step.wait)
		if err != nil || ended {
			return err
		}
	}
	return fmt.Errorf("process %d does not end even after it was killed", r.PID)
}

// awaitEnd waits until the process of the descriptor has ended, for no longer than the given time.
func awaitEnd(ctx context.Context, fd int, wait time.Duration) (bool, error) {
	const slice = 100 * time.Millisecond // how long a cancelled context may go unnoticed
	for ; wait > 0; wait -= slice {
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("wait for the end of a process: %w", err)
		}
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // Descriptors are small numbers.
		count, err := unix.Poll(polled, int(min(wait, slice).Milliseconds()))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return false, fmt.Errorf("wait for the end of a process: %w", err)
		}
		if count > 0 {
			return true, nil
		}
	}
	return false, nil
}

// WithEnvironment returns the records of all processes whose environment contains the given NAME=value, with their
// command lines, even if their record was lost. The calling process is excluded.
func WithEnvironment(assignment string) ([]Record, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var records []Record
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil || !slices.Contains(strings.Split(string(environment), "\x00"), assignment) {
			continue // a process that has ended, or a kernel thread, has no environment
		}
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil {
			continue
		}
		if record, err := Observe(pid, strings.Split(strings.TrimSuffix(string(command), "\x00"), "\x00")); err == nil && record.Alive() {
			records = append(records, record)
		}
	}
	return records, nil
}
