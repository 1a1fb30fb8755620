// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	root := t.TempDir()
	_, err := images.Tools{Programs: []string{"/usr/sbin/nft"}, Root: root}.Entries()
	want := fmt.Sprintf(`find "/usr/sbin/nft" on this machine, which the image needs: lstat %s/usr: no such file or directory`, root)
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("Entries(): error, which names the program (-want +got):\n%s", diff)
	}
}
