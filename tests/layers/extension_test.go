// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goModule is what this test reads of a go.mod.
type goModule struct {
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

func moduleIn(t *testing.T, folder string) goModule {
	t.Helper()
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	edit.Dir = folder
	out, err := edit.Output()
	if err != nil {
		t.Fatalf("read go.mod of %s: %v", folder, err)
	}
	m := goModule{}
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// versions of the modules that are required, after replacements.
func (m goModule) versions() map[string]string {
	all := map[string]string{}
	for _, r := range m.Require {
		all[r.Path] = r.Version
	}
	for _, r := range m.Replace {
		if _, required := all[r.Old.Path]; required && r.New.Path == r.Old.Path {
			all[r.Old.Path] = r.New.Version
		}
	}
	return all
}

// builtFrom are the versions of the modules whose packages a program is built from, after replacements.
func builtFrom(t *testing.T, folder string) map[string]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}", ".")
	list.Dir = folder
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the packages of %s: %v", folder, err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, version, found := strings.Cut(strings.TrimSpace(line), " "); found {
			all[path] = version
		}
	}
	return all
}

// TestSecondExtensionKnowsTheContractOnly sees that the extension in the tests is what anybody could write: it uses Kubernetes'
// libraries and the API types, in the versions of this module, so that it can be built wherever this module can.
func TestSecondExtensionKnowsTheContractOnly(t *testing.T) {
	t.Parallel()
	const own = "github.com/terrarium-garden/terrarium"
	root := filepath.Join("..", "..")
	folder := filepath.Join(root, "tests", "extension")
	theirs, ours := moduleIn(t, folder), moduleIn(t, root).versions()
	for _, r := range theirs.Require {
		allowed := r.Indirect || r.Path == own || r.Path == "github.com/go-logr/logr" || r.Path == "sigs.k8s.io/controller-runtime" || strings.HasPrefix(r.Path, "k8s.io/")
		if !allowed {
			t.Errorf("it requires %s: only Kubernetes' libraries and the API types are for everybody", r.Path)
		}
	}
	want, got := map[string]string{}, builtFrom(t, folder)
	for path := range got {
		want[path] = ours[path]
	}
	for _, itself := range []string{own, "example.org/greeting"} {
		delete(want, itself)
		delete(got, itself)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it needs the versions that this module has (-want +got):\n%s", diff)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("find its sources: %d, %v", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if path := strings.Trim(imported.Path.Value, `"`); strings.HasPrefix(path, own) && !strings.HasPrefix(path, own+"/apis/") {
				t.Errorf("%s imports %s, which is not an API type", name, path)
			}
		}
	}
}
