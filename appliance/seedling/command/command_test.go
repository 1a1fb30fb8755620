// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/command"
)

// run runs a command line and returns what it printed.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := command.New(command.Program{
		Binary: "/opt/build/bin/seedling", Applets: []string{"kubelet", "kubectl"}, Clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
	})
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// golden compares with a file in testdata; UPDATE_GOLDEN=1 writes it instead.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for file, args := range map[string][]string{
		"seedling.txt": {"--help"},
		"up.txt":       {"up", "--help"},
		"down.txt":     {"down", "--help"},
		"status.txt":   {"status", "--help"},
		"load.txt":     {"load", "--help"},
		"images.txt":   {"images", "build", "--help"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, file, out)
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"status of nothing":   {"The folder is named.", []string{"status", "--state-dir", dir}, `folder "` + dir + `": no seedling here`},
		"kubeconfig, nothing": {"There is no kubeconfig before the first up.", []string{"kubeconfig", "--state-dir", dir}, `folder "` + dir + `": no seedling here`},
		"load into nothing":   {"Images need a cluster.", []string{"load", "--state-dir", dir, "a.tar"}, `folder "` + dir + `": no seedling here`},
		"load of nothing":     {"Loading nothing is a mistake.", []string{"load"}, "requires at least 1 arg(s), only received 0"},
		"form of the status":  {"A misspelled value does not select the default.", []string{"status", "--output", "jason"}, `--output: "jason" is neither table nor json`},
		"argument too many":   {"up takes no arguments.", []string{"up", "mine"}, `unknown command "mine" for "seedling up"`},
		"mirror without suite": {
			"A mirror alone does not say what to install.",
			[]string{"images", "build", "--debian-mirror", "http://m"},
			"if any flags in the group [debian-mirror debian-suite] are set they must all be set; missing [debian-suite]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, tc.args...)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\n%s: %v\nwant: %s", tc.reason, strings.Join(tc.args, " "), err, tc.want)
			}
			if out != "" {
				t.Errorf("Commands print nothing beside their error; got %q", out)
			}
		})
	}
}

func TestDownOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := run(t, "down", "--state-dir", dir)
	if err != nil || !strings.Contains(out, "nothing to remove") {
		t.Errorf("down succeeds without a cluster, and printed: %q, %v", out, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("A folder that is no seedling's is left alone: %v", err)
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"seedling.json": `{"stateDir":"` + dir + `"}`, "kubeconfig": "the file\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, link} {
		if out, err := run(t, "kubeconfig", "--state-dir", path); err != nil || out != "the file\n" {
			t.Errorf("The file is printed as it is: %q, %v", out, err)
		}
	}
}
