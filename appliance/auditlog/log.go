// SPDX-License-Identifier: Apache-2.0

// Package auditlog keeps the audit log in files of a bounded size and age, and searches it. Each line is one event, as JSON.
package auditlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

const (
	current = "audit.log"
	prefix  = "audit-"
	suffix  = ".log"
	// stamp is the time in the name of a finished file, which sorts like the time.
	stamp = "20060102T150405.000000000Z"

	// files is the number of full files that share the size.
	files = 8
	// waiting is how much may wait to be written; writers of more are blocked.
	waiting = 4 << 20
	// interval is how long an event waits at most.
	interval = 200 * time.Millisecond
	// complain is how often it is said that events are lost.
	complain = time.Minute

	fileMode = 0o600
	dirMode  = 0o700
)

// lost counts the events that could not be written.
//
//nolint:gochecknoglobals // Metrics belong to the process.
var lost = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "terrarium_audit_lost_events_total",
	Help: "Events of the audit log that could not be written, because the disk was full or failed.",
})

// Collectors are the metrics of all audit logs of the process.
func Collectors() []prometheus.Collector { return []prometheus.Collector{lost} }

// Config says where the log is and how much of it is kept.
type Config struct {
	// Dir is the directory of the files. It is created for its owner only.
	Dir string
	// MaxBytes is the size of all files together, MaxAge the age of the oldest.
	MaxBytes int64
	MaxAge   time.Duration
	Clock    clock.WithTicker
	Log      logr.Logger
}

// Log is an open log. Events are written a moment after Write has returned; Close writes what is left.
type Log struct {
	cfg Config

	mu     sync.Mutex
	room   *sync.Cond
	buffer bytes.Buffer
	closed bool

	// The goroutine that writes owns these.
	file       *os.File
	size       int64
	began      time.Time
	complained time.Time

	stop, stopped chan struct{}
}

// Open opens the log and begins to write.
func Open(cfg Config) (*Log, error) {
	if err := os.MkdirAll(cfg.Dir, dirMode); err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	l := &Log{cfg: cfg, stop: make(chan struct{}), stopped: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	// A process that was killed may have left half a line.
	if info, err := os.Stat(filepath.Join(cfg.Dir, current)); err == nil && info.Size() > 0 {
		if err := l.finish(); err != nil {
			return nil, fmt.Errorf("open audit log: %w", err)
		}
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	l.prune()
	go l.run()

	return l, nil
}

// Write takes one event. It waits if much is waiting already, so that no event is lost while the disk is slow.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.buffer.Len() > waiting && !l.closed {
		l.room.Wait()
	}
	if l.closed {
		return 0, os.ErrClosed
	}
	l.buffer.Write(line)

	return len(line), nil
}

// Close writes what is left and closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.room.Broadcast()
	l.mu.Unlock()
	if again {
		return nil
	}
	close(l.stop)
	<-l.stopped
	if l.file == nil {
		return nil
	}

	return errors.Join(l.file.Sync(), l.file.Close())
}

func (l *Log) run() {
	defer close(l.stopped)
	tick := l.cfg.Clock.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C():
			l.flush()
		case <-l.stop:
			l.flush()

			return
		}
	}
}

// flush writes what is waiting.
func (l *Log) flush() {
	l.mu.Lock()
	data := bytes.Clone(l.buffer.Bytes())
	l.buffer.Reset()
	l.room.Broadcast()
	l.mu.Unlock()
	l.rotate(int64(len(data)))
	if len(data) == 0 {
		return
	}
	if err := l.write(data); err != nil {
		lost.Add(float64(bytes.Count(data, []byte("\n"))))
		if now := l.cfg.Clock.Now(); now.Sub(l.complained) >= complain {
			l.complained = now
			l.cfg.Log.Error(err, "Events of the audit log are lost", "dir", l.cfg.Dir)
		}
	}
}

func (l *Log) write(data []byte) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(data)
	l.size += int64(n)
	if err != nil {
		// What was written of a line is removed, so that the next one is not hidden in it.
		whole := l.size - int64(n) + int64(bytes.LastIndexByte(data[:n], '\n')+1)
		if l.file.Truncate(whole) == nil {
			l.size = whole
		}
	}

	return err
}

func (l *Log) open() error {
	path := filepath.Join(l.cfg.Dir, current)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	if err := f.Chmod(fileMode); err != nil {
		return errors.Join(fmt.Errorf("open audit log: %w", err), f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open audit log: %w", err), f.Close())
	}
	l.file, l.size, l.began = f, info.Size(), l.cfg.Clock.Now()

	return nil
}

// rotate begins a new file if this one is full, or old enough that its age would not be kept to.
func (l *Log) rotate(more int64) {
	now := l.cfg.Clock.Now()
	full := l.size > 0 && l.size+more > l.cfg.MaxBytes/files
	if l.file == nil || !full && (l.size == 0 || now.Sub(l.began) < l.cfg.MaxAge/files) {
		return
	}
	err := l.file.Close()
	l.file = nil
	err = errors.Join(err, l.finish(), l.open())
	if err != nil {
		l.cfg.Log.Error(err, "The audit log did not begin a new file", "dir", l.cfg.Dir)
	}
	l.prune()
}

// finish gives the current file its name for good, with the time of its end.
func (l *Log) finish() error {
	name := prefix + l.cfg.Clock.Now().UTC().Format(stamp) + suffix

	return os.Rename(filepath.Join(l.cfg.Dir, current), filepath.Join(l.cfg.Dir, name))
}

// prune removes the oldest files while all together are too large, and those that are too old. Files that ended in the future are of a time when the
// clock was ahead. They count as the oldest ones: otherwise they would take the space of all later files until that time.
func (l *Log) prune() {
	finished, err := finishedFiles(l.cfg.Dir)
	if err != nil {
		l.cfg.Log.Error(err, "Old files of the audit log were not removed", "dir", l.cfg.Dir)

		return
	}
	now := l.cfg.Clock.Now()
	ahead, _ := slices.BinarySearch(finished, prefix+now.UTC().Add(time.Second).Format(stamp)+suffix)
	finished = slices.Concat(finished[ahead:], finished[:ahead])
	oldest := now.Add(-l.cfg.MaxAge)
	left := l.cfg.MaxBytes - l.cfg.MaxBytes/files
	for _, name := range slices.Backward(finished) {
		ended, err := time.Parse(stamp, strings.TrimSuffix(strings.TrimPrefix(name, prefix), suffix))
		if info, statErr := os.Stat(filepath.Join(l.cfg.Dir, name)); statErr == nil {
			left -= info.Size()
		}
		if err == nil && left >= 0 && ended.After(oldest) {
			continue
		}
		if err := os.Remove(filepath.Join(l.cfg.Dir, name)); err != nil {
			l.cfg.Log.Error(err, "An old file of the audit log was not removed", "file", name)
		}
	}
}

// finishedFiles are the names of the files before the current one, the oldest first.
func finishedFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)

	return names, nil
}
