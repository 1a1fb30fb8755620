// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSavedConfig(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(t *testing.T, path string)
		force  bool
		want   string
	}{
		"Missing": {reason: "a new file is no loss", make: func(*testing.T, string) {}},
		"Equal":   {reason: "the same join can be repeated", make: file("config")},
		"Other":   {reason: "another configuration is not lost", make: file("mine"), want: "exists with another content"},
		"Forced":  {reason: "unless the user says so", make: file("mine"), force: true},
		"Folder": {
			reason: "only files are replaced", force: true, want: "is not a file",
			make: func(t *testing.T, path string) {
				t.Helper()
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := savedConfig{path: filepath.Join(t.TempDir(), "gardenlet.yaml"), force: tc.force}
			tc.make(t, s.path)
			err := s.check([]byte("config"))
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s\ncheck(...): got error %v, want %q", tc.reason, err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\ncheck(...): %v", tc.reason, err)
			}
			checkWritten(t, s)
		})
	}
}

// checkWritten writes a file, which only its owner can read and which has no leftovers beside it.
func checkWritten(t *testing.T, s savedConfig) {
	t.Helper()
	if _, err := s.write([]byte("config")); err != nil {
		t.Fatalf("write(...): %v", err)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil {
		t.Fatal(err)
	}
	type written struct {
		Content string
		Mode    os.FileMode
		Files   int
	}
	if diff := cmp.Diff(written{"config", 0o600, 1}, written{string(data), info.Mode(), len(beside)}); diff != "" {
		t.Errorf("write(...) (-want +got):\n%s", diff)
	}
}

func file(content string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
