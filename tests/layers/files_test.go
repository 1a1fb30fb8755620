// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files returns the Go files in some folders and below them, without tests, by their paths from the root of the project.
func files(t *testing.T, folders ...string) map[string][]byte {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	found := map[string][]byte{}
	for _, folder := range folders {
		err := fs.WalkDir(root, folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			found[path], err = fs.ReadFile(root, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
