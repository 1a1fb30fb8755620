// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"io"
	"sync"

	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus" //nolint:depguard // Kine logs through it; this file is where that ends.
)

// RouteLogs sends what Kine logs to log, and takes from it the power to end this process: Kine answers a commit that
// ran into its time limit with a fatal log line, although the next compaction finds out and repeats the work.
//
// The logger of Kine is one for the whole process: the last call wins. The first call belongs before the first Start.
func RouteLogs(log logr.Logger) {
	disarm()
	hooks := logrus.LevelHooks{}
	hooks.Add(logHook{log: log})
	logrus.StandardLogger().ReplaceHooks(hooks)
}

// disarm makes the standard logger of logrus write and end nothing by itself.
//
//nolint:gochecknoglobals // The logger belongs to the process, and its exit function has no lock.
var disarm = sync.OnceFunc(func() {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.InfoLevel)
	logrus.StandardLogger().ExitFunc = func(int) {}
})

// logHook writes one line of Kine's logger to another.
type logHook struct{ log logr.Logger }

var _ logrus.Hook = logHook{}

// Levels implements logrus.Hook.
func (logHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire implements logrus.Hook. What Kine calls information is of interest to its developers only.
func (h logHook) Fire(entry *logrus.Entry) error {
	values := make([]any, 0, 2*len(entry.Data)+2)
	values = append(values, "message", entry.Message)
	for key, value := range entry.Data {
		values = append(values, key, value)
	}

	switch entry.Level {
	case logrus.PanicLevel, logrus.FatalLevel, logrus.ErrorLevel:
		h.log.Error(nil, "Kine reports an error", values...)
	case logrus.WarnLevel:
		h.log.Info("Kine warns", values...)
	default:
		h.log.V(1).Info("Kine says", values...)
	}

	return nil
}
