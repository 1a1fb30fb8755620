// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestTornFiles opens copies of a log whose write-ahead log was cut off, or overwritten, at a random place, as by a power
// cut on a disk that had not written all of it. What a copy holds is the beginning of the history: every write up to some
// revision, nothing of those after it, and nothing of what was refused or undone. It goes at least as far as what had been
// moved into the file. Only the last write is on its way when it is copied, so a disk that keeps what it was told to sync
// loses nothing that was answered: the whole copy holds it all.
func TestTornFiles(t *testing.T) {
	t.Parallel()

	const before, after, cuts = 40, 60, 25
	cfg := config(t)
	l := open(t, cfg)
	write := func(n int) { apply(t, l, log.Change{Key: key(n), Value: []byte(fmt.Sprint("value ", n))}) }
	for n := range before {
		write(n)
	}
	end(t, l)
	l = open(t, cfg)
	for n := range after {
		write(before + n)
	}
	whole, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(cfg.File + "-wal")
	if err != nil {
		t.Fatal(err)
	}

	check := func(t *testing.T, wal []byte, least int) {
		t.Helper()
		copied := config(t)
		copied.File = filepath.Join(t.TempDir(), "objects.db")
		for name, content := range map[string][]byte{copied.File: whole, copied.File + "-wal": wal} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := open(t, copied)
		found := state(t, l, 0)
		beginning := map[string]string{}
		for n := range len(found) {
			beginning[key(n)] = fmt.Sprint("value ", n)
		}
		if diff := cmp.Diff(beginning, found); diff != "" {
			t.Errorf("What is there is the beginning.\n%d keys (-want +got):\n%s", len(found), diff)
		}
		if len(found) < least || int64(len(found))+1 != l.Revision() {
			t.Errorf("What was moved into the file is there, and nothing is counted that is not.\n%d keys at revision %d, want at least %d", len(found), l.Revision(), least)
		}
		apply(t, l, log.Change{Key: "/next", Value: []byte("x")})
	}
	check(t, wal, before+after)
	for range cuts {
		at := rand.IntN(len(wal))
		check(t, wal[:at], before)
		torn := append([]byte(nil), wal...)
		for i := at; i < min(at+512, len(torn)); i++ {
			torn[i] ^= byte(1 + rand.IntN(255))
		}
		check(t, torn, before)
	}
}
