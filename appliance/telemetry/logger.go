// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-logr/logr"
)

// Level says how much is logged.
type Level string

const (
	// LevelDebug logs everything that the house writes, and what Kubernetes libraries write up to their level 2.
	LevelDebug Level = "debug"
	// LevelInfo logs what an operator wants to know on a good day.
	LevelInfo Level = "info"
	// LevelError logs errors only.
	LevelError Level = "error"
)

// Format says what a log line looks like.
type Format string

const (
	// FormatText is one line of key=value pairs for people.
	FormatText Format = "text"
	// FormatJSON is one JSON object a line for machines.
	FormatJSON Format = "json"
)

// klogVerbosity is what the Kubernetes project recommends for a detailed log of a system in production.
const klogVerbosity = 2

// Levels lists the levels from the most to the least.
func Levels() []Level { return []Level{LevelDebug, LevelInfo, LevelError} }

// Formats lists the formats, the default first.
func Formats() []Format { return []Format{FormatText, FormatJSON} }

// Options say what is logged, and how.
type Options struct {
	// Level is LevelInfo when empty.
	Level Level
	// Format is FormatText when empty.
	Format Format
}

// Validate returns what is wrong with each field, named by the flag that sets it.
func (o Options) Validate() []error {
	var errs []error
	if o.Level != "" && !slices.Contains(Levels(), o.Level) {
		errs = append(errs, fmt.Errorf("--log-level: %q is not one of %s", o.Level, join(Levels())))
	}
	if o.Format != "" && !slices.Contains(Formats(), o.Format) {
		errs = append(errs, fmt.Errorf("--log-format: %q is not one of %s", o.Format, join(Formats())))
	}
	return errs
}

func join[T ~string](values []T) string {
	words := make([]string, 0, len(values))
	for _, v := range values {
		words = append(words, string(v))
	}
	return strings.Join(words, ", ")
}

// NewLogger makes a logger that writes valid Options' lines to w. V(0) is info, V(1) to V(3) are debug.
func NewLogger(w io.Writer, o Options) logr.Logger {
	return logr.FromSlogHandler(newHandler(w, o))
}

func newHandler(w io.Writer, o Options) slog.Handler {
	opts := &slog.HandlerOptions{Level: threshold(o.Level), ReplaceAttr: replace}
	if o.Format == FormatJSON {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// threshold is the lowest slog level that is written; logr's V(n) is slog's -n.
func threshold(l Level) slog.Level {
	switch l {
	case LevelDebug:
		return -klogVerbosity - 1 // what Kubernetes libraries log is put one level lower, see Redirect
	case LevelError:
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// levelName keeps the log at three words, whatever numbers a library chose.
func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return string(LevelError)
	case l >= slog.LevelInfo:
		return string(LevelInfo)
	default:
		return string(LevelDebug)
	}
}
