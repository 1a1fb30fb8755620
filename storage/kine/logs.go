// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"io"
	"sync"

	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus" //nolint:depguard // Kine logs with it; this file redirects its messages.
)

// RouteLogs redirects the messages of Kine to log, and keeps fatal messages from ending this process: Kine logs a fatal
// message when a commit times out, although the next compaction notices that and repeats the work.
//
// Kine has one logger for the whole process, so the last call wins. The first call must be before the first Start.
func RouteLogs(log logr.Logger) {
	disarm()
	hooks := logrus.LevelHooks{}
	hooks.Add(logHook{log: log})
	logrus.StandardLogger().ReplaceHooks(hooks)
}

// disarm keeps the standard logger of logrus from writing and from ending the process.
//
//nolint:gochecknoglobals // The logger belongs to the process, and its exit function has no lock.
var disarm = sync.OnceFunc(func() {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.InfoLevel)
	logrus.StandardLogger().ExitFunc = func(int) {}
})

// logHook passes messages of Kine's logger to another logger.
type logHook struct{ log logr.Logger }

var _ logrus.Hook = logHook{}

// Levels implements logrus.Hook.
func (logHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire implements logrus.Hook. Info messages of Kine are only of interest to its developers.
func (h logHook) Fire(entry *logrus.Entry) error {
	values := make([]any, 0, 2*len(entry.Data)+2)
	values = append(values, "message", entry.Message)
	for key, value := range entry.Data {
		values = append(values, key, value)
	}

	switch entry.Level {
	case logrus.PanicLevel, logrus.FatalLevel, logrus.ErrorLevel:
		h.log.Error(nil, "Kine logged an error", values...)
	case logrus.WarnLevel:
		h.log.Info("Kine logged a warning", values...)
	default:
		h.log.V(1).Info("Kine logged a message", values...)
	}

	return nil
}
