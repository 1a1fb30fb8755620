// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestPassphraseOfTerminal types a passphrase.
func TestPassphraseOfTerminal(t *testing.T) {
	t.Parallel()
	keyboard, screen := newTerminal(t)
	var told bytes.Buffer
	type result struct {
		line string
		err  error
	}
	read := func(ctx context.Context) chan result {
		results := make(chan result, 1)
		go func() {
			line, err := readPassphrase(ctx, Environment{In: screen, Err: &told}, "")
			results <- result{line, err}
		}()
		awaitEcho(t, screen, false)
		return results
	}

	results := read(t.Context())
	if _, err := fmt.Fprintln(keyboard, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if got := <-results; got.err != nil || got.line != "correct horse" {
		t.Errorf("readPassphrase(...) = %q, %v", got.line, got.err)
	}
	if diff := cmp.Diff("Passphrase: \n", told.String()); diff != "" {
		t.Errorf("The user is asked (-want +got):\n%s", diff)
	}
	awaitEcho(t, screen, true)

	ctx, interrupt := context.WithCancel(t.Context())
	results = read(ctx)
	interrupt()
	if got := <-results; !errors.Is(got.err, context.Canceled) {
		t.Errorf("The first interrupt ends it.\nreadPassphrase(...) = %q, %v", got.line, got.err)
	}
	awaitEcho(t, screen, true)
}

// newTerminal returns both ends of a pseudo terminal.
func newTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo terminals: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What still reads gets a line, and ends.
		_, _ = fmt.Fprintln(keyboard)
		_ = errors.Join(keyboard.Close(), screen.Close())
	})
	return keyboard, screen
}

// awaitEcho returns when the terminal shows what is typed, or hides it.
func awaitEcho(t *testing.T, terminal *os.File, shown bool) {
	t.Helper()
	for t.Context().Err() == nil {
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		if (state.Lflag&unix.ECHO != 0) == shown {
			return
		}
	}
}
