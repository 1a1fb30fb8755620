// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
)

// TestRun starts versions of the program on data directories of other versions.
func TestRun(t *testing.T) {
	t.Parallel()
	two := []upgrade.Migration{{To: 2, Name: "two", Run: func(context.Context, string) error { return nil }}}
	begun := &identity.Upgrade{From: "v0.1.4", To: "v0.2.0", Snapshot: "snapshot-1"}
	cases := map[string]struct {
		reason  string
		before  identity.Use
		program upgrade.Program
		want    identity.Use
		saves   int
		err     error
		text    []string
	}{
		"Same": {
			reason: "nothing is to do for the same version", before: identity.Use{Schema: 1, Version: "v0.1.0"},
			program: upgrade.Program{Version: "v0.1.0"}, want: identity.Use{Schema: 1, Version: "v0.1.0"},
		},
		"Patch": {
			reason: "a patch changes nothing in the directory", before: identity.Use{Schema: 1, Version: "v0.1.0"},
			program: upgrade.Program{Version: "v0.1.7"}, want: identity.Use{Schema: 1, Version: "v0.1.7"},
		},
		"PatchBack": {
			reason: "nor does going back to the patch before", before: identity.Use{Schema: 1, Version: "v0.1.7"},
			program: upgrade.Program{Version: "v0.1.0-dev"}, want: identity.Use{Schema: 1, Version: "v0.1.0-dev"},
		},
		"Minor": {
			reason: "the next minor version saves first", before: identity.Use{Schema: 1, Version: "v0.1.4"},
			program: upgrade.Program{Version: "v0.2.0", Migrations: two}, saves: 1,
			want: identity.Use{Schema: 2, Version: "v0.2.0", Upgraded: begun},
		},
		"Major": {
			reason: "the first version of the next major version comes after every minor version", before: identity.Use{Schema: 1, Version: "v0.9.4"},
			program: upgrade.Program{Version: "v1.0.0"}, saves: 1,
			want: identity.Use{Schema: 1, Version: "v1.0.0", Upgraded: &identity.Upgrade{From: "v0.9.4", To: "v1.0.0", Snapshot: "snapshot-1"}},
		},
		"SchemaOnly": {
			reason: "so does a version that only changes the schema, such as one in development", before: identity.Use{Schema: 1, Version: "v0.1.0-dev"},
			program: upgrade.Program{Version: "v0.1.0-dev", Migrations: two}, saves: 1,
			want: identity.Use{Schema: 2, Version: "v0.1.0-dev", Upgraded: &identity.Upgrade{From: "v0.1.0-dev", To: "v0.1.0-dev", Snapshot: "snapshot-1"}},
		},
		"Unknown": {
			reason: "a directory that does not say its version is one of the first", program: upgrade.Program{Version: "v0.2.0"}, saves: 1,
			want: identity.Use{Schema: 1, Version: "v0.2.0", Upgraded: &identity.Upgrade{To: "v0.2.0", Snapshot: "snapshot-1"}},
		},
		"UnknownEarlier": {
			reason: "and is never too new", program: upgrade.Program{Version: "v0.0.0-test"}, want: identity.Use{Schema: 1, Version: "v0.0.0-test"},
		},
		"OwnBuild": {
			reason: "a version that is none cannot be compared", before: identity.Use{Schema: 1, Version: "v0.4.0"},
			program: upgrade.Program{Version: "mine"}, want: identity.Use{Schema: 1, Version: "mine"},
		},
		"Interrupted": {
			reason: "an upgrade goes on where it ended, without another snapshot", before: identity.Use{Schema: 1, Version: "v0.1.4", Begun: begun},
			program: upgrade.Program{Version: "v0.2.0", Migrations: two}, want: identity.Use{Schema: 2, Version: "v0.2.0", Upgraded: begun},
		},
		"Downgrade": {
			reason: "an earlier minor version refuses and says how to go back",
			before: identity.Use{Schema: 1, Version: "v0.2.0", Upgraded: begun}, program: upgrade.Program{Version: "v0.1.9"},
			want: identity.Use{Schema: 1, Version: "v0.2.0", Upgraded: begun}, err: upgrade.ErrDowngrade,
			text: []string{"v0.2.0", "v0.1.9", "run terrarium v0.2.0 or a later version", "terrarium snapshot restore snapshot-1"},
		},
		"MajorBack": {
			reason: "and so does one of an earlier major version",
			before: identity.Use{Schema: 1, Version: "v1.0.0"}, program: upgrade.Program{Version: "v0.9.0"},
			want: identity.Use{Schema: 1, Version: "v1.0.0"}, err: upgrade.ErrDowngrade,
		},
		"Schema": {
			reason: "a schema that is not known is refused, whatever the version", before: identity.Use{Schema: 2, Version: "v0.1.0-dev"},
			program: upgrade.Program{Version: "v0.1.0-dev"}, want: identity.Use{Schema: 2, Version: "v0.1.0-dev"}, err: upgrade.ErrDowngrade,
			text: []string{"schema 2", "knows up to 1"},
		},
		"Skipped": {
			reason: "the version in between has to be started first", before: identity.Use{Schema: 1, Version: "v0.1.0"},
			program: upgrade.Program{Version: "v0.3.0"}, want: identity.Use{Schema: 1, Version: "v0.1.0"}, err: upgrade.ErrSkipped,
			text: []string{"start v0.2 first"},
		},
		"SkippedUnknown": {
			reason: "also after a directory that does not say its version", program: upgrade.Program{Version: "v0.3.0"},
			want: identity.Use{Schema: 1}, err: upgrade.ErrSkipped,
		},
		"SkippedMajor": {
			reason: "and between major versions", before: identity.Use{Schema: 1, Version: "v0.9.0"},
			program: upgrade.Program{Version: "v1.1.0"}, want: identity.Use{Schema: 1, Version: "v0.9.0"}, err: upgrade.ErrSkipped,
			text: []string{"start v1.0 first"},
		},
		"InterruptedByNewer": {
			reason: "a version before the one that has begun to change the directory does not go on with it",
			before: identity.Use{Schema: 1, Version: "v0.1.4", Begun: begun}, program: upgrade.Program{Version: "v0.1.4"},
			want: identity.Use{Schema: 1, Version: "v0.1.4", Begun: begun}, err: upgrade.ErrIncomplete,
			text: []string{"start v0.2.0 to complete it", "terrarium snapshot restore snapshot-1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := directory(t, tc.before)
			saves := 0
			_, err := tc.program.Run(t.Context(), dir, func(_ context.Context, from string) (string, error) {
				saves++
				if from != tc.before.Version {
					t.Errorf("The garden is saved as one of %q, want %q.", from, tc.before.Version)
				}

				return "snapshot-1", nil
			})
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if saves != tc.saves {
				t.Errorf("%s: the garden was saved %d times, want %d", tc.reason, saves, tc.saves)
			}
			found, _, readErr := identity.ReadUse(dir)
			if diff := cmp.Diff(tc.want, found); diff != "" || readErr != nil {
				t.Errorf("%s: the directory says, %v (-want +got):\n%s", tc.reason, readErr, diff)
			}
			for _, text := range tc.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: the error does not say %q: %v", tc.reason, text, err)
				}
			}
			if check := tc.program.Check(dir); !errors.Is(check, tc.err) {
				t.Errorf("%s: the check says %v", tc.reason, check)
			}
		})
	}
}

// TestRunFresh writes down which version has made a directory.
func TestRunFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	is, err := upgrade.Program{Version: "v0.3.0", Migrations: []upgrade.Migration{{To: 2}}}.Run(t.Context(), dir, nil)
	if want := (identity.Use{Schema: 2, Version: "v0.3.0"}); err != nil || is != want {
		t.Errorf("A new directory is %+v, %v; want %+v", is, err, want)
	}
}

// TestRunWithoutSnapshot changes nothing if the garden cannot be saved.
func TestRunWithoutSnapshot(t *testing.T) {
	t.Parallel()
	before := identity.Use{Schema: 1, Version: "v0.1.0"}
	dir, errBoom := directory(t, before), errors.New("boom")
	program := upgrade.Program{Version: "v0.2.0", Migrations: []upgrade.Migration{{To: 2, Run: func(context.Context, string) error {
		t.Error("It was changed.")

		return nil
	}}}}
	if _, err := program.Run(t.Context(), dir, func(context.Context, string) (string, error) { return "", errBoom }); !errors.Is(err, errBoom) {
		t.Errorf("Run: %v, want %v", err, errBoom)
	}
	if found, _, err := identity.ReadUse(dir); err != nil || found != before {
		t.Errorf("The directory says %+v, %v; want %+v", found, err, before)
	}
}

// TestRunDamaged does not guess what a file means that cannot be read.
func TestRunDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", "schema", `{"schema": 0, "version": "v0.1.0"}`} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "version.json"), text)
		_, err := upgrade.Program{Version: "v0.1.0"}.Run(t.Context(), dir, nil)
		if _, ok := errors.AsType[*identity.CorruptError](err); !ok {
			t.Errorf("With %q: %v, want that the file is damaged", text, err)
		}
	}
}

// directory makes a data directory that says which version has used it; without a version, one that does not say it.
func directory(t *testing.T, is identity.Use) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "layout"), "2\n")
	if is.Schema > 0 {
		if err := identity.WriteUse(dir, is); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCheckShared has servers of several versions that share a datastore, which one of another version has last led.
func TestCheckShared(t *testing.T) {
	t.Parallel()
	two := []upgrade.Migration{{To: 2}}
	cases := map[string]struct {
		reason  string
		schema  int
		version string
		program upgrade.Program
		want    error
		text    []string
	}{
		"Same":    {reason: "servers of one version take turns", schema: 1, version: "v0.1.0", program: upgrade.Program{Version: "v0.1.0"}},
		"Patches": {reason: "patch versions take turns in both directions", schema: 1, version: "v0.1.7", program: upgrade.Program{Version: "v0.1.0-dev"}},
		"Newer":   {reason: "the next minor version goes on", schema: 1, version: "v0.1.7", program: upgrade.Program{Version: "v0.2.0", Migrations: two}},
		"Own":     {reason: "a version that is none cannot be compared", schema: 1, version: "v0.4.0", program: upgrade.Program{Version: "mine"}},
		"Older": {
			reason: "an earlier version could misunderstand what is stored", schema: 1, version: "v0.2.0", program: upgrade.Program{Version: "v0.1.9"},
			want: upgrade.ErrNewerDatastore, text: []string{"v0.2.0", "v0.1.9", "upgrade this server"},
		},
		"Schema": {
			reason: "so could one that does not know the schema, whatever the versions are", schema: 2, version: "mine", program: upgrade.Program{Version: "mine"},
			want: upgrade.ErrNewerDatastore, text: []string{"schema 2", "knows up to 1"},
		},
		"Skipped": {
			reason: "the version in between has to lead first", schema: 1, version: "v0.1.0", program: upgrade.Program{Version: "v0.3.0"},
			want: upgrade.ErrSkipped, text: []string{"start a server of v0.2 first"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.program.CheckShared(tc.schema, tc.version)
			if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
				t.Fatalf("%s\nCheckShared(): got %v, want %v", tc.reason, err, tc.want)
			}
			for _, text := range tc.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("The error does not say %q: %v", text, err)
				}
			}
		})
	}
}
