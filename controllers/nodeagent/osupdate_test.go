// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// system is a machine whose operating system has a command that updates it, in the test a line of shell.
type system struct {
	*scene

	first authority
}

func newSystem(t *testing.T) *system {
	t.Helper()
	first := newAuthority(t, "first")
	s := &system{first: first}
	s.scene = newScene(t, s.wants("first", "1", "echo must not run"))
	s.agent.OSUpdateTimeout = time.Minute
	s.boots(t, "one")
	s.installs(t, "1")
	s.joined(t, first, &first)
	s.pass(t)
	s.change(t, ready)
	return s
}

// wants is the configuration for a state, with a version of the operating system.
func (s *system) wants(hash, version, shell string) configuration {
	c := pooled(hash, hash, s.first)
	c.InPlaceUpdates.OSUpdate = &nodeagent.OSUpdate{Version: version, Command: "/bin/sh", Args: []string{"-c", shell}}
	return c
}

func (s *system) put(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(s.agent.Machine.Root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *system) boots(t *testing.T, id string) {
	t.Helper()
	s.put(t, "/proc/sys/kernel/random/boot_id", id+"\n")
}

func (s *system) installs(t *testing.T, version string) {
	t.Helper()
	s.put(t, "/etc/os-release", "VERSION_ID="+version+"\n")
}

// says is a line of shell that leaves a mark each time it runs.
func (s *system) says(more string) string {
	return "echo ran >>" + filepath.Join(s.agent.Machine.Root, "ran") + more
}

func (s *system) ran(t *testing.T) int {
	t.Helper()
	return strings.Count(read(t, s.agent.Machine, "/ran"), "ran")
}

func (s *system) setting(t *testing.T) string {
	t.Helper()
	return read(t, s.agent.Machine, "/var/lib/kubelet/config")
}

// progress is how often the command ran, and what is applied.
type progress struct {
	Ran     int
	Setting string
}

func (s *system) progress(t *testing.T) progress {
	t.Helper()
	return progress{Ran: s.ran(t), Setting: s.setting(t)}
}

// fails makes a pass that has to fail, and returns the reason that the node tells.
func (s *system) fails(t *testing.T) string {
	t.Helper()
	if _, _, err := s.agent.Pass(t.Context()); err == nil {
		t.Fatal("Pass(...) succeeds")
	}
	node := s.change(t, nil)
	if got := node.Labels[gardenmachinev1alpha1.LabelNodeUpdateResult]; got != gardenmachinev1alpha1.UpdateFailed {
		t.Errorf("the result is %q, want that it has failed", got)
	}
	return node.Annotations[gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason]
}

// TestOSUpdate: the command of the extension runs on a drained node whose operating system is to have another version, once, and before the rest
// of the configuration is applied. A machine that starts with a version is not updated to it.
func TestOSUpdate_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.change(t, func(n *corev1.Node) { n.Status.Conditions = nil })
	s.configure(t, s.wants("second", "2", s.says("")))
	s.pass(t)
	if s.ran(t) != 0 {
		t.Fatal("the command runs although the node is not drained")
	}
	s.change(t, ready)
	order := s.says("; cat " + filepath.Join(s.agent.Machine.Root, "/var/lib/kubelet/config") + " >" + filepath.Join(s.agent.Machine.Root, "before"))
	s.configure(t, s.wants("second", "2", order))
	s.pass(t)
	if before := read(t, s.agent.Machine, "/before"); before != "maxPods: first" {
		t.Errorf("when the command ran, the setting was %q, want the former one", before)
	}
	if diff := cmp.Diff(progress{Ran: 1, Setting: "maxPods: second"}, s.progress(t)); diff != "" {
		t.Errorf("after the command (-want +got):\n%s", diff)
	}
	s.configure(t, s.wants("third", "2", s.says("")))
	s.pass(t)
	if diff := cmp.Diff(progress{Ran: 1, Setting: "maxPods: third"}, s.progress(t)); diff != "" {
		t.Errorf("another setting needs no command (-want +got):\n%s", diff)
	}
	// Back to the version that the machine had first.
	s.configure(t, s.wants("fourth", "1", s.says("")))
	s.pass(t)
	if diff := cmp.Diff(progress{Ran: 2, Setting: "maxPods: fourth"}, s.progress(t)); diff != "" {
		t.Errorf("the former version is another one, too (-want +got):\n%s", diff)
	}
}

// TestOSUpdateFails: nothing of the configuration is applied as long as the command fails or takes too long; the node tells why.
func TestOSUpdateFails_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.configure(t, s.wants("second", "2", s.says("; echo no room >&2; exit 3")))
	for range 2 {
		if why := s.fails(t); !strings.Contains(why, `update the operating system to version "2" with "/bin/sh"`) || !strings.Contains(why, "no room") {
			t.Errorf("the reason is %q", why)
		}
	}
	if diff := cmp.Diff(progress{Ran: 2, Setting: "maxPods: first"}, s.progress(t)); diff != "" {
		t.Errorf("a command that fails is tried again (-want +got):\n%s", diff)
	}
	s.agent.OSUpdateTimeout = 100 * time.Millisecond
	s.configure(t, s.wants("second", "2", "sleep 300"))
	if why := s.fails(t); !strings.Contains(why, "deadline exceeded") {
		t.Errorf("the reason is %q, want that it took too long", why)
	}
	s.agent.OSUpdateTimeout = time.Minute
	s.configure(t, s.wants("second", "2", "true"))
	s.pass(t)
	if s.setting(t) != "maxPods: second" {
		t.Errorf("with a command that succeeds the setting is %q", s.setting(t))
	}
}

// TestOSUpdateRestarts: a command that restarts the machine has succeeded if the operating system is another one afterwards. If it is not, the machine
// does not restart for ever.
func TestOSUpdateRestarts_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	// In the test the command ends with an error when the machine goes down, and so does the agent.
	s.configure(t, s.wants("second", "2", s.says("; exit 1")))
	s.fails(t)
	s.boots(t, "two")
	s.installs(t, "2")
	s.pass(t)
	if diff := cmp.Diff(progress{Ran: 1, Setting: "maxPods: second"}, s.progress(t)); diff != "" {
		t.Errorf("after the restart (-want +got):\n%s", diff)
	}
	s.configure(t, s.wants("third", "3", s.says("; exit 1")))
	why := ""
	for _, id := range []string{"three", "four", "five", "six", "seven", "eight"} {
		why = s.fails(t)
		s.boots(t, id)
	}
	if !strings.Contains(why, "its operating system is still the one of before") {
		t.Errorf("the reason is %q", why)
	}
	if diff := cmp.Diff(progress{Ran: 1 + 4, Setting: "maxPods: second"}, s.progress(t)); diff != "" {
		t.Errorf("the operating system is not updated (-want +got):\n%s", diff)
	}
	s.configure(t, s.wants("third", "3", s.says("")))
	s.pass(t)
	if diff := cmp.Diff(progress{Ran: 6, Setting: "maxPods: third"}, s.progress(t)); diff != "" {
		t.Errorf("another command (-want +got):\n%s", diff)
	}
}
