// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

func openJournal(t *testing.T, file string) *node.Journal {
	t.Helper()
	journal, err := node.OpenJournal(file)
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

func makeDir(t *testing.T, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestJournalRemovesOnlyWhatWasAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "journal.json")
	present := makeDir(t, dir, "present")
	empty, used, never := filepath.Join(dir, "empty"), filepath.Join(dir, "used"), filepath.Join(dir, "never")
	if err := openJournal(t, file).NoteAbsent(present, empty, used, never); err != nil {
		t.Fatal(err)
	}

	makeDir(t, empty, "deep", "inside")
	makeDir(t, used)
	if err := os.WriteFile(filepath.Join(used, "somebody's"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A later start finds the folders, which does not make them somebody else's.
	if err := openJournal(t, file).NoteAbsent(present, empty, used, never); err != nil {
		t.Fatal(err)
	}
	removed, err := openJournal(t, file).RemoveAbsent()
	if diff := cmp.Diff([]string{empty}, removed); err != nil || diff != "" {
		t.Errorf("Folders go that were not there before and hold no file of anybody's: error %v (-want +got):\n%s", err, diff)
	}
	for _, stays := range []string{present, used} {
		if _, err := os.Stat(stays); err != nil {
			t.Errorf("%s was to stay: %v", stays, err)
		}
	}
}

func TestJournalUnknownSetting(t *testing.T) {
	t.Parallel()
	journal := openJournal(t, filepath.Join(t.TempDir(), "journal.json"))
	if err := journal.Set("net/no/such/setting", "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("The caller can tell that this kernel does not have a setting; got %v", err)
	}
	if node.HasSetting("net/no/such/setting") || !node.HasSetting("kernel/ostype") {
		t.Errorf("HasSetting() knows which settings there are")
	}
	if restored, err := journal.Restore(true); err != nil || len(restored) > 0 {
		t.Errorf("What was not changed is not restored; got %q, %v", restored, err)
	}
}

func TestJournalLeavesRightSettingAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.json")
	// ostype cannot be written by anybody, so setting it to what it is must not try to.
	if err := openJournal(t, file).Set("kernel/ostype", "Linux"); err != nil {
		t.Errorf("A setting that is as wanted is left alone: %v", err)
	}
	if restored, err := openJournal(t, file).Restore(true); err != nil || len(restored) > 0 {
		t.Errorf("What was not changed is not restored; got %q, %v", restored, err)
	}
}

func TestJournalWritesDownFirst(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.json")
	// The change fails, because nobody can write this one; the note of what it was has to be there nevertheless.
	if err := openJournal(t, file).Set("kernel/ostype", "Plan 9"); err == nil {
		t.Fatal("the type of the kernel could be changed")
	}
	if diff := cmp.Diff(map[string]string{"kernel/ostype": "Linux"}, openJournal(t, file).Settings); diff != "" {
		t.Errorf("The value before is written down before the change (-want +got):\n%s", diff)
	}
}

func TestJournalRaisesOnly(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.json")
	// threads-max is a number well above one on every machine, so there is nothing to raise.
	if err := openJournal(t, file).Raise("kernel/threads-max", 1); err != nil {
		t.Errorf("A limit that is high enough is left alone: %v", err)
	}
	if got := openJournal(t, file).Settings; len(got) > 0 {
		t.Errorf("Nothing was changed, so nothing is noted; got %v", got)
	}
	if err := openJournal(t, file).Raise("kernel/ostype", 1); err == nil {
		t.Errorf("A setting that is no number cannot be raised")
	}
	if err := openJournal(t, file).Raise("net/no/such/limit", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("The caller can tell that this kernel does not have a limit; got %v", err)
	}
}

func TestJournalRestoresByNetwork(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	journal := openJournal(t, filepath.Join(t.TempDir(), "journal.json"))
	if err := journal.Set("net/ipv4/ip_default_ttl", "63"); err != nil {
		t.Skipf("settings cannot be changed here: %v", err)
	}
	if restored, err := journal.Restore(false); err != nil || len(restored) > 0 {
		t.Errorf("In another network its settings are left alone; got %q, %v", restored, err)
	}
	restored, err := journal.Restore(true)
	if diff := cmp.Diff([]string{"net/ipv4/ip_default_ttl"}, restored); err != nil || diff != "" {
		t.Errorf("In their own network settings get the values that they had: error %v (-want +got):\n%s", err, diff)
	}
	content, err := os.ReadFile("/proc/sys/net/ipv4/ip_default_ttl")
	if err != nil || string(content) != "64\n" {
		t.Errorf("The value is back; got %q, %v", content, err)
	}
}

func TestJournalLeavesForeignSettingsAlone(t *testing.T) {
	t.Parallel()
	ownNetwork(t)
	const setting, path = "net/ipv4/ip_default_ttl", "/proc/sys/net/ipv4/ip_default_ttl"
	for name, tc := range map[string]struct {
		reason string
		// change is what others do between the change of a setting and its restoration.
		change func(file string) error
		want   string
	}{
		"changed since": {
			reason: "A value that somebody else has set is kept.",
			change: func(string) error { return os.WriteFile(path, []byte("62"), 0o600) },
			want:   "62\n",
		},
		"other boot": {
			reason: "After a boot the settings are those of the new boot.",
			change: func(file string) error { return edit(file, `"boot": "[^"]*"`, `"boot": "another"`) },
			want:   "63\n",
		},
		"journal of an earlier version": {
			reason: "The boot of the network is that of the settings.",
			change: func(file string) error {
				return edit(file, `"boot": "[^"]*"`, `"network": "another net:[1]"`)
			},
			want: "63\n",
		},
	} {
		file := filepath.Join(t.TempDir(), "journal.json")
		if err := openJournal(t, file).Set(setting, "63"); err != nil {
			t.Skipf("settings cannot be changed here: %v", err)
		}
		if err := tc.change(file); err != nil {
			t.Fatal(err)
		}
		if restored, err := openJournal(t, file).Restore(true); err != nil || len(restored) > 0 {
			t.Errorf("%s: %s\nRestore() = %q, %v", name, tc.reason, restored, err)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != tc.want {
			t.Errorf("%s: %s\nThe value is %q, %v; want %q", name, tc.reason, content, err, tc.want)
		}
		if err := os.WriteFile(path, []byte("64"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// edit replaces what matches an expression in a file.
func edit(file, expression, by string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, regexp.MustCompile(expression).ReplaceAll(content, []byte(by)), 0o600)
}

func TestBrokenJournal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	journal, err := node.OpenJournal(file)
	if !errors.Is(err, node.ErrUnreadableJournal) || !strings.Contains(err.Error(), file) {
		t.Errorf("A broken journal is an error that names it; got %v", err)
	}
	if restored, err := journal.Restore(true); err != nil || len(restored) > 0 {
		t.Errorf("What is known of a broken journal is nothing; got %q, %v", restored, err)
	}
}
