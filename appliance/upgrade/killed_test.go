// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
)

// killMoment has the number of the moment at which an upgrade in a process of its own is killed, killDirectory its directory.
const (
	killMoment    = "TERRARIUM_TEST_KILL_MOMENT"
	killDirectory = "TERRARIUM_TEST_KILL_DIRECTORY"
)

// TestMain upgrades a directory instead, if the environment says so.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killDirectory); dir != "" {
		moment, err := strconv.Atoi(os.Getenv(killMoment))
		if err == nil {
			err = errors.Join(upgradeUntil(context.Background(), dir, moment), errors.New("it was not killed"))
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// upgradeUntil upgrades a directory by two migrations, and kills the process at a moment; 0 lets it live. Each migration adds a line to
// a file in two steps, and completes what it finds half done.
func upgradeUntil(ctx context.Context, dir string, moment int) error {
	now := 0
	reach := func() {
		if now++; now == moment {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	program := upgrade.Program{Version: "v0.2.0"}
	for schema := 2; schema <= 3; schema++ {
		program.Migrations = append(program.Migrations, upgrade.Migration{To: schema, Name: "a line", Run: func(_ context.Context, dir string) error {
			reach()
			path, line := filepath.Join(dir, "lines"), fmt.Sprintf("line %d\n", schema)
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text, _, _ = bytes.Cut(text, []byte(line[:6]))
			if err := os.WriteFile(path, append(text, line[:6]...), 0o600); err != nil {
				return err
			}
			reach()
			if err := os.WriteFile(path, append(text, line...), 0o600); err != nil {
				return err
			}
			reach()

			return nil
		}})
	}
	_, err := program.Run(ctx, dir, func(_ context.Context, _ string) (string, error) {
		reach()
		text, err := os.ReadFile(filepath.Join(dir, "lines"))
		if err != nil {
			return "", err
		}
		f, err := os.OpenFile(filepath.Join(dir, "saved"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
		reach()

		return "snapshot-1", err
	})

	return err
}

// TestKilled kills an upgrade at each of its moments. The next start completes it, the snapshot never has anything of the new version,
// and the version before does not start in between unless nothing was changed.
func TestKilled(t *testing.T) {
	t.Parallel()
	const moments = 8
	for moment := 1; moment <= moments; moment++ {
		t.Run(strconv.Itoa(moment), func(t *testing.T) {
			t.Parallel()
			dir := directory(t, identity.Use{Schema: 1, Version: "v0.1.0"})
			write(t, filepath.Join(dir, "lines"), "line 1\n")
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), killDirectory+"="+dir, killMoment+"="+strconv.Itoa(moment))
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Success() || exit.ExitCode() != -1 {
				t.Fatalf("The upgrade was not killed: %v\n%s", err, out)
			}

			before := upgrade.Program{Version: "v0.1.0"}.Check(dir)
			changed := read(t, filepath.Join(dir, "lines")) != "line 1\n"
			if changed && !errors.Is(before, upgrade.ErrIncomplete) && !errors.Is(before, upgrade.ErrDowngrade) {
				t.Errorf("The version before starts on a directory that was changed: %v", before)
			}
			if err := upgradeUntil(t.Context(), dir, 0); err != nil {
				t.Fatalf("The next start: %v", err)
			}
			if diff := cmp.Diff("line 1\nline 2\nline 3\n", read(t, filepath.Join(dir, "lines"))); diff != "" {
				t.Errorf("The next start completes the upgrade (-want +got):\n%s", diff)
			}
			saved := read(t, filepath.Join(dir, "saved"))
			if saved = strings.ReplaceAll(saved, "line 1\n", ""); saved != "" {
				t.Errorf("The snapshot has something of the new version: %q", saved)
			}
			found, _, err := identity.ReadUse(dir)
			want := identity.Use{Schema: 3, Version: "v0.2.0", Upgraded: &identity.Upgrade{From: "v0.1.0", To: "v0.2.0", Snapshot: "snapshot-1"}}
			if diff := cmp.Diff(want, found); diff != "" || err != nil {
				t.Errorf("The directory says, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(text)
}
