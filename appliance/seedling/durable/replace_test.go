// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	// A crash may have left a longer file.
	if err := os.WriteFile(file+durable.Suffix, []byte("half of something longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "another"} {
		if err := durable.Replace(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("The file has the new content: error %v (-want +got):\n%s", err, diff)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("No other file is left: %v, %v", entries, err)
	}
	if err := durable.Replace(filepath.Join(dir, "missing", "file"), nil, 0o600); err == nil {
		t.Error("A folder that does not exist is an error")
	}
}
