// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Portable returns the files of the data directory that make the garden what it is wherever it runs, by their paths: the
// authorities and keys. Certificates are left out that the next start makes anew, for the addresses that the garden has then.
func Portable(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	paths := []string{layoutFile}
	// A directory that was made before there was the file does not have it.
	if _, err := os.Stat(filepath.Join(dir, useFile)); err == nil {
		paths = append(paths, useFile)
	}
	entries, err := os.ReadDir(filepath.Join(dir, pkiDir))
	if err != nil {
		return nil, fmt.Errorf("read keys and certificates: %w", err)
	}
	made := []string{servingFile, adminFile, frontProxyFile, clientSignerFile, generationFile}
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".tmp-") && !slices.Contains(made, e.Name()) {
			paths = append(paths, path.Join(pkiDir, e.Name()))
		}
	}
	for _, name := range paths {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) //nolint:gosec // The path is the operator's own.
		if err != nil {
			return nil, fmt.Errorf("read keys and certificates: %w", err)
		}
		files[name] = data
	}

	return files, nil
}
