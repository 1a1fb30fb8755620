// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"sync"
	"testing"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// quiet takes what libraries log through globals: it cannot be told which garden it belongs to.
var quiet = sync.OnceValue(func() error { return telemetry.Redirect(logr.Discard(), telemetry.LevelError) })

// buffer keeps a log until it is known whether anybody wants to see it.
type buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *buffer) Write(line []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()

	return b.text.Write(line)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()

	return b.text.String()
}

func newLog(tb testing.TB) (logr.Logger, *telemetry.Control, *buffer) {
	tb.Helper()
	if err := quiet(); err != nil {
		tb.Fatalf("silence libraries: %v", err)
	}
	unmet.forget(tb.Name())
	lines := &buffer{}
	control := telemetry.NewControl(telemetry.LevelInfo)
	log := telemetry.NewLogger(lines, telemetry.Options{Level: telemetry.LevelInfo, Format: telemetry.FormatText, Control: control})
	// Registered before the garden's own clean-up, so it runs after it.
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("log of the garden:\n%s", lines)
			unmet.repeat(tb)
		}
	})

	return log, control, lines
}
