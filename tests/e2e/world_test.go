// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	namespace = "garden-meadow"
	shootName = "sprout"
	gardenURL = "https://127.0.0.1:16443"
)

// world is one playground: everything is reached through the built binaries, as a user would.
type world struct {
	// root is the checkout, bin its binaries; state and seedState are where playground and seedling keep theirs.
	root, bin, state, seedState string
	// before is what traces found before the playground was up.
	before map[string][]string
}

// setting reads what scripts/playground reads, so that a story can be told beside another playground.
func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// newWorld finds the checkout and its binaries.
func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("the end-to-end tests make namespaces, mounts and addresses: run them as root")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		root: root, bin: filepath.Join(root, ".build", "bin"),
		state: setting("PLAYGROUND", filepath.Join(root, ".build", "playground")), seedState: setting("SEEDLING_STATE", "/var/lib/seedling"),
	}
	for _, name := range []string{"terrarium", "seedling"} {
		if _, err := os.Stat(filepath.Join(w.bin, name)); err != nil {
			t.Fatalf("%v: `make test-e2e` builds it", err)
		}
	}
	return w
}

// result is what a command said.
type result struct {
	stdout, stderr string
	code           int
}

func (r result) all() string { return r.stdout + r.stderr }

// try runs a command of the playground, feeding it input, and returns what it said.
func (w *world) try(t *testing.T, input string, command ...string) result {
	t.Helper()
	// Commands also run while a test cleans up, when its own context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = w.root
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %q: %v", command, err)
	}
	return result{stdout: out.String(), stderr: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// must runs a command that has to succeed.
func (w *world) must(t *testing.T, command ...string) string {
	t.Helper()
	return w.mustWith(t, "", command...)
}

func (w *world) mustWith(t *testing.T, input string, command ...string) string {
	t.Helper()
	r := w.try(t, input, command...)
	if r.code != 0 {
		t.Fatalf("%q ended with %d\n%s", command, r.code, r.all())
	}
	return r.stdout
}

func (w *world) terrarium(args ...string) []string {
	return append([]string{filepath.Join(w.bin, "terrarium")}, args...)
}

func (w *world) seedling(args ...string) []string {
	return append([]string{filepath.Join(w.bin, "seedling")}, args...)
}

func (w *world) kubectl(kubeconfig string, args ...string) []string {
	return append(w.seedling("kubectl", "--kubeconfig", filepath.Join(w.state, kubeconfig+".kubeconfig")), args...)
}

func (w *world) garden(args ...string) []string { return w.kubectl("garden", args...) }
func (w *world) seed(args ...string) []string   { return w.kubectl("seed", args...) }
func (w *world) shoot(args ...string) []string  { return w.kubectl(shootName, args...) }

// eventually probes until the probe succeeds, at first three times a second and later once: each probe starts a process, which
// takes processor time from what is waited for. The last answer explains a failure.
func (w *world) eventually(t *testing.T, within time.Duration, what string, probe func() (bool, string)) {
	t.Helper()
	deadline := time.After(within)
	for pause := 300 * time.Millisecond; ; pause = min(pause*5/4, time.Second) {
		done, last := probe()
		if done {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: not within %s; last answer:\n%s", what, within, last)
		case <-time.After(pause):
		}
	}
}

// says waits until a command succeeds with want in its output.
func (w *world) says(t *testing.T, within time.Duration, want string, command ...string) {
	t.Helper()
	w.eventually(t, within, strings.Join(command, " "), func() (bool, string) {
		r := w.try(t, "", command...)
		return r.code == 0 && strings.Contains(r.stdout, want), r.all()
	})
}

// gone waits until a command fails because the object is not there.
func (w *world) gone(t *testing.T, within time.Duration, command ...string) {
	t.Helper()
	w.eventually(t, within, strings.Join(command, " "), func() (bool, string) {
		r := w.try(t, "", command...)
		return r.code != 0 && strings.Contains(r.stderr, "NotFound"), r.all()
	})
}

// healthy waits for a shoot to be whole.
func (w *world) healthy(t *testing.T, within time.Duration, shoot string) {
	t.Helper()
	w.says(t, within, "Succeeded 100", w.garden("-n", namespace, "get", "shoot", shoot, "-o",
		"jsonpath={.status.lastOperation.state} {.status.lastOperation.progress} {.status.lastOperation.description} {.status.lastErrors}")...)
}

// gardenPID is the process of the playground's garden.
func (w *world) gardenPID(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.state, "garden.pid"))
	if err != nil {
		t.Fatal(err)
	}
	return number(t, strings.Fields(string(raw))[0])
}

// gardenletPID is the process of the gardenlet that runs in the seed, seen from the host.
func (w *world) gardenletPID(t *testing.T) int {
	t.Helper()
	found := w.try(t, "", "pgrep", "-f", "^/usr/local/bin/terrarium gardenlet")
	if found.code != 0 {
		t.Fatalf("no gardenlet runs\n%s", found.all())
	}
	return number(t, strings.Fields(found.stdout)[0])
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// background runs a command until the returned function is called; it is sent SIGTERM and awaited.
func (w *world) background(t *testing.T, command ...string) (stop func()) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), command[0], command[1:]...)
	cmd.Dir = w.root
	log, err := os.Create(filepath.Join(w.state, "logs", filepath.Base(command[0])+"-background.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("stop %q: %v", command, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q did not stop cleanly: %v", command, err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}
