// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
)

// TestPassphraseOfPipe reads from another program that stays.
func TestPassphraseOfPipe(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	defer out.Close() //nolint:errcheck // A pipe in memory.
	go func() { _, _ = fmt.Fprintln(out, "correct horse") }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := readPassphrase(ctx, Environment{In: in}, "")
	if err != nil || got != "correct horse" {
		t.Errorf("A line is enough.\nreadPassphrase(...) = %q, %v", got, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if got, err := readPassphrase(stopped, Environment{In: in}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("The first interrupt ends it.\nreadPassphrase(...) = %q, %v", got, err)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"NoLineBreak": {"correct", "correct"}, "Lines": {"correct\r\nhorse\n", "correct"}, "Nothing": {"", ""}, "Spaces": {" \n", ""},
	} {
		if got, err := readPassphrase(ctx, Environment{In: strings.NewReader(tc.text)}, ""); got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: readPassphrase(...) = %q, %v, want %q", name, got, err, tc.want)
		}
	}
}

// TestImportFromPipe makes a data directory with a passphrase from a program that stays.
func TestImportFromPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "garden.bundle")
	recipient, err := age.NewScryptRecipient("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	recipient.SetWorkFactor(10)
	var sealed bytes.Buffer
	to, err := age.Encrypt(&sealed, recipient)
	if err == nil {
		_, err = io.WriteString(to, `{"format":7}`)
	}
	if err := errors.Join(err, to.Close(), os.WriteFile(file, sealed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe()
	defer out.Close() //nolint:errcheck // A pipe in memory.
	go func() { _, _ = fmt.Fprintln(out, "correct horse battery") }()
	var told bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	status := Main(ctx, Environment{In: in, Out: io.Discard, Err: &told, Getenv: func(string) string { return "" }},
		[]string{"bundle", "import", file, "--data-dir", filepath.Join(dir, "data")})
	if status != statusFailure || !strings.Contains(told.String(), "has format 7") {
		t.Errorf("The bundle was opened with the first line.\nstatus = %d, %s", status, told.String())
	}
}
