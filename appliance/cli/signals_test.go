// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/cli"
)

// signalled tells a process that it is the one that gets the signals.
const signalled = "TERRARIUM_TEST_SIGNALLED"

// TestReportSignals is the process that gets the signals of TestUntilSignal.
func TestReportSignals(t *testing.T) {
	t.Parallel()
	if os.Getenv(signalled) == "" {
		t.Skip("this process gets no signals")
	}
	reportSignals(os.Stdin, os.Stdout)
}

// TestUntilSignal sends signals to another process.
func TestUntilSignal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// shell starts the process.
		shell   string
		ignored bool
		signals []syscall.Signal
		want    string
	}{
		"Interrupt": {"A user ends a command.", `exec "$0" "$@"`, false, []syscall.Signal{syscall.SIGINT}, "interrupt signal received"},
		"Terminate": {"So does the system.", `exec "$0" "$@"`, false, []syscall.Signal{syscall.SIGTERM}, "terminated signal received"},
		"Hangup":    {"A closed terminal ends it as well, and leaves it time to tidy up.", `exec "$0" "$@"`, false, []syscall.Signal{syscall.SIGHUP}, "hangup signal received"},
		"Ignored": {
			"A process that outlives its terminal goes on.", `trap "" HUP; exec "$0" "$@"`, true, []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}, "terminated signal received",
		},
	}
	// Where the tests run without a terminal (nohup), hangups are ignored from the start, and would be by the processes as well.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startReporter(t, tc.shell)
			if diff := cmp.Diff(fmt.Sprintf("ready, hangups are ignored: %t", tc.ignored), p.line(t)); diff != "" {
				t.Fatalf("%s\nthe process (-want +got):\n%s", tc.reason, diff)
			}
			for _, s := range tc.signals {
				p.signal(t, s)
			}
			if diff := cmp.Diff(tc.want, p.line(t)); diff != "" {
				t.Errorf("%s\nthe cause (-want +got):\n%s", tc.reason, diff)
			}
			p.signal(t, syscall.SIGHUP)
			if _, err := fmt.Fprintln(p.in, "what is left to do"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("done: what is left to do", p.line(t)); diff != "" {
				t.Errorf("A hangup does not cut short the end of a command (-want +got):\n%s", diff)
			}
		})
	}
}

// reportSignals writes why its context has ended, and after that what it is told to do.
func reportSignals(in io.Reader, out io.Writer) {
	ctx, stop := cli.UntilSignal(context.Background())
	defer stop()
	_, _ = fmt.Fprintf(out, "ready, hangups are ignored: %t\n", signal.Ignored(syscall.SIGHUP))
	<-ctx.Done()
	_, _ = fmt.Fprintln(out, context.Cause(ctx))
	task, _ := bufio.NewReader(in).ReadString('\n')
	_, _ = fmt.Fprint(out, "done: ", task)
}

// reporter is a process that reports its signals.
type reporter struct {
	process *os.Process
	in      io.Writer
	out     *bufio.Scanner
}

func startReporter(t *testing.T, shell string) *reporter {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, program, "-test.run=^TestReportSignals$")
	cmd.Env = append(os.Environ(), signalled+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &reporter{process: cmd.Process, in: in, out: bufio.NewScanner(out)}
}

func (r *reporter) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := r.process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// line returns the next line of the process; it is empty if the process has ended.
func (r *reporter) line(t *testing.T) string {
	t.Helper()
	r.out.Scan()
	return r.out.Text()
}
