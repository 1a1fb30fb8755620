// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// klogName is the name of the logger for lines of Kubernetes libraries.
const klogName = "kubernetes"

// Redirect sets log as the global logger of klog, slog and the standard log package. Information of Kubernetes libraries is for
// their developers, so it is debug here; their warnings are info, and their errors stay errors.
//
// The command that creates the logger calls it once, before it starts anything that may log, because the globals are not
// synchronized.
func Redirect(log logr.Logger, level Level) error {
	if err := setVerbosity(level); err != nil {
		return err
	}
	named := log.WithName(klogName)
	//nolint:forbidigo // the one place that hands klog our logger
	klog.SetLoggerWithOptions(named.V(1), klog.ContextualLogger(true), klog.WriteKlogBuffer(func(line []byte) {
		writeKlogLine(named, line)
	}))
	slog.SetDefault(slog.New(logr.ToSlogHandler(log)))
	return nil
}

// writeKlogLine writes a line that klog has formatted, because it has no keys and values. It consists of a header, which begins with
// the first letter of the severity and ends with a bracket, and the message.
func writeKlogLine(log logr.Logger, line []byte) {
	header, message, found := bytes.Cut(line, []byte("] "))
	if !found || len(header) == 0 {
		header, message = []byte("I"), line
	}
	text := string(bytes.TrimSpace(message))
	switch header[0] {
	case 'E', 'F':
		log.Error(nil, text)
	case 'W':
		log.Info(text)
	default:
		log.V(1).Info(text)
	}
}
