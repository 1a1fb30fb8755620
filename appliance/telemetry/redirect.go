// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"flag"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Redirect sends what libraries log through the globals of klog, slog and the standard log package to log. It is
// called once in a process, by the command that makes the logger and before anything that may log has started,
// because those globals are not guarded.
func Redirect(log logr.Logger, level Level) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags) //nolint:forbidigo // the one place that tells klog how much to log
	verbosity := 0
	if level == LevelDebug {
		verbosity = klogVerbosity
	}
	if err := flags.Set("v", strconv.Itoa(verbosity)); err != nil {
		return fmt.Errorf("set verbosity of klog: %w", err)
	}
	klog.SetLoggerWithOptions(log, klog.ContextualLogger(true)) //nolint:forbidigo // the one place that hands klog our logger
	slog.SetDefault(slog.New(logr.ToSlogHandler(log)))
	return nil
}
