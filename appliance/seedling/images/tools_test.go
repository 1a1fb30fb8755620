// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
)

func TestToolsBringTheirLibraries(t *testing.T) {
	t.Parallel()
	const program = "/usr/bin/env"
	entries, err := images.Tools{Programs: []string{program}, Root: "/"}.Entries()
	if err != nil {
		t.Skipf("this machine has no %s linked with libraries: %v", program, err)
	}
	var paths []string
	root := t.TempDir()
	for _, entry := range entries {
		paths = append(paths, entry.Path)
		target := filepath.Join(root, entry.Path)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if entry.Link != "" {
			if err := os.Symlink(entry.Link, target); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data, err := os.ReadFile(entry.Source)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(paths, "usr/bin/env") || !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, "usr/lib") && strings.Contains(p, "libc.so") }) {
		t.Errorf("a program and its C library have to be there: %v", paths)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may try whether the program starts with nothing else around it")
	}
	output, err := exec.CommandContext(t.Context(), "chroot", root, program, "--version").CombinedOutput()
	if err != nil {
		t.Errorf("the program does not start with nothing else around it: %v: %s", err, output)
	}
}

func TestToolsNameWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := images.Tools{Programs: []string{"/usr/sbin/nft"}, Root: t.TempDir()}.Entries()
	if err == nil || !strings.Contains(err.Error(), `find "/usr/sbin/nft" on this machine, which the image needs`) {
		t.Errorf("Entries() = %v, want an error that names the program", err)
	}
}
