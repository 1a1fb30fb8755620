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

// Level is a log level.
type Level string

const (
	// LevelDebug logs all lines of this module, and those of Kubernetes libraries up to their level 2.
	LevelDebug Level = "debug"
	// LevelInfo logs information for operators.
	LevelInfo Level = "info"
	// LevelError logs errors only.
	LevelError Level = "error"
)

// Format is the format of log lines.
type Format string

const (
	// FormatText writes lines of key=value pairs.
	FormatText Format = "text"
	// FormatJSON writes one JSON object for each line.
	FormatJSON Format = "json"
)

// klogVerbosity is the verbosity that Kubernetes recommends for systems in production.
const klogVerbosity = 2

// Levels returns the levels, the most detailed first.
func Levels() []Level { return []Level{LevelDebug, LevelInfo, LevelError} }

// Formats returns the formats, the default first.
func Formats() []Format { return []Format{FormatText, FormatJSON} }

// Options are the options of a logger.
type Options struct {
	// Level is LevelInfo if empty.
	Level Level
	// Format is FormatText if empty.
	Format Format
	// Control changes the level later and keeps the newest lines; nil if nobody does.
	Control *Control
}

// Validate returns an error for each invalid field, with its flag.
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

// NewLogger returns a logger that writes to w. The Options must be valid. V(0) is info, V(1) to V(3) are debug.
func NewLogger(w io.Writer, o Options) logr.Logger {
	return logr.FromSlogHandler(newHandler(w, o))
}

func newHandler(w io.Writer, o Options) slog.Handler {
	opts := &slog.HandlerOptions{Level: threshold(o.Level), ReplaceAttr: replace}
	if o.Control != nil {
		opts.Level, w = &o.Control.threshold, io.MultiWriter(w, o.Control)
	}
	if o.Format == FormatJSON {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// threshold returns the lowest slog level that is written; logr's V(n) is slog's -n.
func threshold(l Level) slog.Level {
	switch l {
	case LevelDebug:
		return -klogVerbosity - 1 // lines of Kubernetes libraries are one level lower, see Redirect
	case LevelError:
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// levelName maps all levels to three names.
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
