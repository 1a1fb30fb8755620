// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// playPart makes the test binary a process that takes any arguments and ends with its input.
const playPart = "SEEDLING_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(playPart) != "" {
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// play starts such a process and returns a function that ends it and reports how it ended.
func play(t *testing.T, stateDir string, args ...string) (end func() error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = []string{playPart + "=1", "SEEDLING_PROCESS_OF=" + stateDir}
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return func() error { _ = in.Close(); return command.Wait() }
}

func TestEndUnrecorded(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(t, nil)
	part := play(t, dir, c.RuntimeArgs()...)
	shim := play(t, dir, "-namespace", "k8s.io")
	foreign := play(t, dir+"-two", c.RuntimeArgs()...)
	if err := c.EndUnrecorded(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := part(); err == nil {
		t.Error("A part without a record is ended: it holds what its successor needs")
	}
	if err := shim(); err != nil {
		t.Errorf("A process that is no part, like a shim, continues to run: %v", err)
	}
	if err := foreign(); err != nil {
		t.Errorf("A part of another cluster continues to run: %v", err)
	}
}
