// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// TestServerRefuses shows what a user is told whose server cannot start.
//
//nolint:paralleltest // the server takes over the logs of the whole process
func TestServerRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		// prepare returns the arguments.
		prepare func(t *testing.T, dir string) []string
		status  int
		says    []string
	}{
		"PortOutOfRange": {
			reason:  "A wrong flag is named, and is a usage error.",
			prepare: func(*testing.T, string) []string { return []string{"--listen", ":70000", "--log-level", "loud"} },
			status:  2,
			says: []string{
				`Error: --listen: ":70000": port "70000" is not a number from 0 to 65535`, "--log-level", `Hint: see "terrarium server --help"`,
			},
		},
		"UnknownField": {
			reason: "A field that does not exist is named by its path.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				return []string{"--config", config(t, dir, "tokens: {defaultLifetme: 1h}")}
			},
			status: 1,
			says:   []string{`unknown field "tokens.defaultLifetme"`},
		},
		"WrongValueInFile": {
			reason: "A wrong value of the file is named by its path.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				return []string{"--config", config(t, dir, "tokens: {defaultLifetime: 25h}")}
			},
			status: 1,
			says:   []string{"config.yaml: tokens.defaultLifetime: 25h0m0s is not between 10m and 24h"},
		},
		"NoConfigFile": {
			reason:  "A file that was named has to be there.",
			prepare: func(_ *testing.T, dir string) []string { return []string{"--config", filepath.Join(dir, "none")} },
			status:  1,
			says:    []string{"--config: open", "no such file"},
		},
		"DataDirIsFile": {
			reason: "A file in the directory's place is told.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				return []string{"--data-dir", config(t, dir, "")}
			},
			status: 1,
			says:   []string{"is a file, not a directory"},
		},
		"DataDirInUse": {
			reason: "Two servers on one directory would destroy it.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				lock, err := identity.LockDirectory(dir)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = lock.Release() })
				return []string{"--data-dir", dir}
			},
			status: 1,
			says:   []string{"data directory is in use", fmt.Sprintf("process %d", os.Getpid()), "Hint: stop that process"},
		},
		"DataDirNewer": {
			reason: "An older binary must not touch what it does not understand.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "layout"), []byte("99\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return []string{"--data-dir", dir}
			},
			status: 1,
			says:   []string{"by a newer version", "layout 99"},
		},
		"PortTaken": {
			reason: "The port is taken before anything is written.",
			prepare: func(t *testing.T, dir string) []string {
				t.Helper()
				l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = l.Close() })
				return []string{"--data-dir", filepath.Join(dir, "data"), "--listen", l.Addr().String()}
			},
			status: 1,
			says:   []string{"taken by another process"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := tc.prepare(t, dir)
			if !strings.Contains(strings.Join(args, " "), "--listen") {
				args = append(args, "--listen", "127.0.0.1:0")
			}
			r := newWorld().run(t, append([]string{"server"}, args...)...)
			if diff := cmp.Diff(result{status: tc.status, errors: r.errors}, r, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("%s\nstatus and output (-want +got):\n%s", tc.reason, diff)
			}
			for _, want := range tc.says {
				if !strings.Contains(r.errors, want) {
					t.Errorf("%s\nerrors = %q, want %q in them", tc.reason, r.errors, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
				t.Errorf("%s\nA server that cannot start leaves nothing behind, but made its directory", tc.reason)
			}
		})
	}
}

func config(t *testing.T, dir, fields string) string {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	text := "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\n" + fields + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestServer runs a garden as a user does and tries the commands on it.
//
//nolint:paralleltest // the server takes over the logs of the whole process
func TestServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	stop := runServer(t, "--data-dir", dir, "--listen", "127.0.0.1:0", "--external-address", "garden.example.org")

	user := newWorld()
	created := user.run(t, "token", "create", "--data-dir", dir, "--description", "basement", "--print", "token")
	token, err := identity.ParseJoinToken(strings.TrimSpace(created.out))
	if err != nil {
		t.Fatalf("token create: %v; status = %d, errors = %q", err, created.status, created.errors)
	}
	command := user.run(t, "token", "create", "--data-dir", dir).out
	if !strings.HasPrefix(command, "terrarium gardenlet join https://garden.example.org:") {
		t.Errorf("The command names the address by which others reach the garden.\noutput = %q", command)
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	for _, step := range []struct {
		args   string
		status int
		out    string
	}{
		{args: "token list --data-dir " + dir, out: token.ID + "   <new>   basement      in 59m    no     authentication"},
		{args: "token delete " + token.ID + " --data-dir " + dir},
		{args: "token delete " + token.String() + " --data-dir " + dir, status: 1},
		{args: "kubeconfig --data-dir " + dir + " --output " + kubeconfig},
		{args: "version --server --kubeconfig " + kubeconfig, out: "v1.149.0"},
		{args: "token list --kubeconfig " + kubeconfig, out: "authentication"},
	} {
		r := user.run(t, strings.Fields(step.args)...)
		if r.status != step.status || !strings.Contains(r.out, step.out) {
			t.Errorf("terrarium %s\nstatus = %d, want %d; output = %q, want %q in it; errors = %q",
				step.args, r.status, step.status, r.out, step.out, r.errors)
		}
	}

	stop()
}

// runServer runs a server until the function that it returns is called, and returns when it is ready.
func runServer(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	log, errs := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- cli.Main(ctx, cli.Environment{
			In: strings.NewReader(""), Out: io.Discard, Err: errs, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		}, append([]string{"server"}, args...))
		_ = errs.Close()
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if got := <-status; got != 0 {
			t.Errorf("A server that was told to stop has not failed.\nstatus = %d, want 0", got)
		}
	})
	t.Cleanup(stop)
	lines := bufio.NewScanner(log)
	ready := false
	for !ready && lines.Scan() {
		ready = strings.Contains(lines.Text(), `"Garden ready"`)
		t.Log(lines.Text())
		if strings.Contains(lines.Text(), "level=error") {
			t.Errorf("A start in which nothing goes wrong logs no error.\nlog: %s", lines.Text())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	if !ready {
		t.Fatal("the server has ended before it was ready")
	}

	return stop
}
