// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// TestSystemdIsAsked has a program in the place of systemctl that writes down what it is asked.
func TestSystemdIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, asked := filepath.Join(dir, "systemctl"), filepath.Join(dir, "asked")
	script := "#!/bin/sh\necho \"$@\" >>" + asked + "\n[ \"$2\" != broken.service ] || { echo it is broken; exit 3; }\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	systemd := nodeagent.Systemd{Program: program}
	for _, u := range []unit{
		{Name: "kubelet.service", Enable: new(true), Command: new(gardenextensionsv1alpha1.UnitCommandStart)},
		{Name: "containerd.service"},
		{Name: "off.service", Command: new(gardenextensionsv1alpha1.UnitCommandStop)},
		{Name: "disabled.service", Enable: new(false)},
		{Name: nodeagent.Unit},
	} {
		if err := systemd.Restart(t.Context(), &u); err != nil {
			t.Fatal(err)
		}
	}
	if err := systemd.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	want := `enable kubelet.service
restart kubelet.service
restart containerd.service
stop off.service
disable disabled.service
stop disabled.service
restart --no-block gardener-node-agent.service
daemon-reload
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("what systemd is asked (-want +got):\n%s", diff)
	}
	if err := systemd.Restart(t.Context(), &unit{Name: "broken.service"}); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("Restart(...) = %v, want what systemd says", err)
	}
	if err := systemd.Stop(t.Context(), "terrarium-no-such-unit.service"); err != nil {
		t.Errorf("Stop(...) = %v for a unit that is gone, want nil", err)
	}
}

// TestCommandsEnd has a program whose child keeps its output open, and would go on for long.
func TestCommandsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, child := filepath.Join(dir, "hangs"), filepath.Join(dir, "child")
	if err := syscall.Mkfifo(child, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nsh -c 'echo runs; exec sleep 20' >" + child + " &\n[ \"$1\" != wait ] || wait\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// run returns when the child runs, which has the pipe open until it ends.
	run := func(ctx context.Context, args ...string) (chan error, *os.File) {
		ended := make(chan error, 1)
		go func() { ended <- nodeagent.Command(ctx, program, args...) }()
		pipe, err := os.Open(child)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pipe, make([]byte, len("runs\n"))); err != nil {
			t.Fatal(err)
		}
		return ended, pipe
	}
	ctx, end := context.WithCancel(t.Context())
	ended, pipe := run(ctx, "wait")
	defer func() { _ = pipe.Close() }()
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Command(...) = %v, want that it was ended", err)
	}
	if err := pipe.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("what the command has started goes on: %v", err)
	}

	ended, left := run(t.Context())
	defer func() { _ = left.Close() }()
	if err := <-ended; err != nil {
		t.Errorf("Command(...) = %v for a command that succeeds, and leaves a process behind", err)
	}
}
