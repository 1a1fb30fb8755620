// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"io"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus" //nolint:depguard // Kine logs with it; this file redirects its messages.
)

// repeatAfter is how long the same message is not logged again: Kine logs once a second while a database does not answer.
const repeatAfter = 30 * time.Second

// RouteLogs redirects the messages of Kine to log, without what is secret in the URL of its datastore, and keeps fatal messages from ending this process: Kine logs a fatal
// message when a commit times out, although the next compaction notices that and repeats the work.
//
// Kine has one logger for the whole process, so the last call wins. The first call must be before the first Start.
func RouteLogs(log logr.Logger, endpoint string) {
	disarm()
	hooks := logrus.LevelHooks{}
	hooks.Add(&logHook{log: log, endpoint: endpoint, last: map[string]time.Time{}})
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
type logHook struct {
	log      logr.Logger
	endpoint string

	mutex sync.Mutex
	last  map[string]time.Time
}

var _ logrus.Hook = (*logHook)(nil)

// Levels implements logrus.Hook.
func (*logHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire implements logrus.Hook. Info messages of Kine are only of interest to its developers.
func (h *logHook) Fire(entry *logrus.Entry) error {
	message := redact(entry.Message, h.endpoint)
	if h.repeats(message, entry.Time) {
		return nil
	}
	values := make([]any, 0, 2*len(entry.Data)+2)
	values = append(values, "message", message)
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

// repeats reports whether a message was logged a short time ago.
func (h *logHook) repeats(message string, now time.Time) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	maps.DeleteFunc(h.last, func(_ string, at time.Time) bool { return now.Sub(at) >= repeatAfter })
	_, recent := h.last[message]
	if !recent {
		h.last[message] = now
	}

	return recent
}
