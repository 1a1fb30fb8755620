// SPDX-License-Identifier: Apache-2.0

package kubectl_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// asKubectl is set for a process that is kubectl, started by a test.
const asKubectl = "TERRARIUM_TEST_KUBECTL"

func TestMain(m *testing.M) {
	if os.Getenv(asKubectl) != "" {
		// kubectl reads its arguments from os.Args in several places.
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// user runs kubectl against a garden.
type user struct {
	*harness.Garden

	home string
	env  []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	return &user{Garden: harness.Start(t), home: t.TempDir()}
}

// with is the same user with something in the environment.
func (u *user) with(env ...string) *user {
	return &user{Garden: u.Garden, home: u.home, env: env}
}

// answer is what a command printed, and its exit status.
type answer struct {
	out, errs string
	status    int
}

// try runs kubectl with arguments and input.
func (u *user) try(t *testing.T, input string, args ...string) answer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, args...)
	command.Args[0] = "kubectl"
	command.Env = append([]string{
		asKubectl + "=yes", "KUBECONFIG=" + u.Kubeconfig, "HOME=" + u.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
	}, u.env...)
	command.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("run kubectl %q: %v", args, err)
	}
	return answer{out.String(), errs.String(), command.ProcessState.ExitCode()}
}

// run is try where nothing can go wrong.
func (u *user) run(t *testing.T, input string, args ...string) string {
	t.Helper()
	a := u.try(t, input, args...)
	if a.status != 0 {
		t.Fatalf("kubectl %s: exit status %d\n%s%s", strings.Join(args, " "), a.status, a.out, a.errs)
	}
	return a.out
}

// says checks that a text has all words.
func says(t *testing.T, reason, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s\nlooking for %q in:\n%s", reason, word, text)
		}
	}
}

// refuses checks that kubectl fails and says why.
func (u *user) refuses(t *testing.T, reason, input string, args []string, words ...string) {
	t.Helper()
	a := u.try(t, input, args...)
	if a.status == 0 {
		t.Errorf("%s\nkubectl %s succeeded:\n%s", reason, strings.Join(args, " "), a.out)
	}
	says(t, reason, a.errs, words...)
}

// example reads one of the example manifests.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "packaging", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// project is a manifest of a project without a namespace of its own.
func project(name, description string) string {
	return fmt.Sprintf(`{apiVersion: core.gardener.cloud/v1beta1, kind: Project, metadata: {name: %s, labels: {kind: %s}}, spec: {description: %q}}`,
		name, name, description)
}

// quota is a manifest of a kind that is small, and that nobody looks after.
func quota(name string, days int) string {
	return fmt.Sprintf(`
apiVersion: core.gardener.cloud/v1beta1
kind: Quota
metadata: {name: %s, namespace: default}
spec:
  scope: {apiVersion: core.gardener.cloud/v1beta1, kind: Project}
  metrics: {cpu: "8", memory: 8Gi}
  clusterLifetimeDays: %d`, name, days)
}
