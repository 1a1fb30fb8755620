// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/klog/v2"
)

// recentBytes is how much of the log is kept in memory.
const recentBytes = 1 << 20

// Control changes the level of a log while the process runs, and keeps its newest lines. The zero value is not usable; see NewControl.
type Control struct {
	threshold slog.LevelVar

	mu    sync.Mutex
	level Level
	lines []string
	size  int
}

// NewControl returns the control of a log that begins with a level.
func NewControl(level Level) *Control {
	c := &Control{}
	c.level = level
	c.threshold.Set(threshold(level))

	return c
}

// Level returns the current level.
func (c *Control) Level() Level {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.level
}

// SetLevel changes the level, also that of Kubernetes libraries.
func (c *Control) SetLevel(level Level) error {
	if !slices.Contains(Levels(), level) {
		return fmt.Errorf("%q is not one of %s", level, join(Levels()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.level = level
	c.threshold.Set(threshold(level))

	return setVerbosity(level)
}

// setVerbosity tells klog how much to log.
func setVerbosity(level Level) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags) //nolint:forbidigo // the one place that tells klog how much to log
	verbosity := 0
	if level == LevelDebug {
		verbosity = klogVerbosity
	}
	if err := flags.Set("v", strconv.Itoa(verbosity)); err != nil {
		return fmt.Errorf("set verbosity of klog: %w", err)
	}

	return nil
}

// Write keeps a line. It implements io.Writer.
func (c *Control) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, string(line[:min(len(line), recentBytes)]))
	c.size += len(c.lines[len(c.lines)-1])
	drop := 0
	for c.size > recentBytes {
		c.size -= len(c.lines[drop])
		drop++
	}
	c.lines = slices.Delete(c.lines, 0, drop)

	return len(line), nil
}

// Recent returns the newest lines.
func (c *Control) Recent() string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return strings.Join(c.lines, "")
}
