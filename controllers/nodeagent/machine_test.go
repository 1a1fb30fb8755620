// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

type (
	file          = gardenextensionsv1alpha1.File
	unit          = gardenextensionsv1alpha1.Unit
	configuration = nodeagent.Configuration
)

// supervisor has the files of units as systemd has them, and notes what it is asked to do. It fails for the unit named in fails.
type supervisor struct {
	nodeagent.Systemd

	did   []string
	fails string
	// hangs is the unit that neither starts nor ends.
	hangs string
	// when is called before a unit is restarted.
	when func(name string)
}

var errUnit = errors.New("the unit does not start")

func (s *supervisor) Reload(context.Context) error { return nil }

func (s *supervisor) Restart(ctx context.Context, u *gardenextensionsv1alpha1.Unit) error {
	if u.Name == s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.when != nil {
		s.when(u.Name)
	}
	if u.Name == s.fails {
		return errUnit
	}
	s.did = append(s.did, "restart "+u.Name)
	return nil
}

func (s *supervisor) Stop(ctx context.Context, name string) error {
	if name == s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	s.did = append(s.did, "stop "+name)
	return nil
}

// take returns what was done since the last call.
func (s *supervisor) take() []string {
	did := s.did
	s.did = nil
	return did
}

func inline(path, data string) file {
	return file{Path: path, Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: data}}}
}

func machine(t *testing.T) (*nodeagent.Machine, *supervisor) {
	t.Helper()
	units := &supervisor{}
	return &nodeagent.Machine{Root: t.TempDir(), HostName: "a", StateDir: "/var/lib/agent", Units: units}, units
}

func kubelet(maxPods string) configuration {
	return configuration{
		Files: []file{inline("/var/lib/kubelet/config", "maxPods: "+maxPods), inline("/etc/motd", "hello")},
		Units: []unit{
			{Name: "containerd.service"},
			{Name: "kubelet.service", Content: new("[Service]\nExecStart=/kubelet\n"), FilePaths: []string{"/var/lib/kubelet/config"}},
			{Name: "other.service", Content: new("[Service]\nExecStart=/other\n")},
		},
	}
}

func apply(t *testing.T, m *nodeagent.Machine, c configuration) {
	t.Helper()
	if err := m.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, m *nodeagent.Machine, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.Root, path))
	if os.IsNotExist(err) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOnlyWhatAChangeConcernsIsRestarted_GLET_CARE_13 changes one thing after the other on one machine.
func TestOnlyWhatAChangeConcernsIsRestarted_GLET_CARE_13(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	apply(t, m, kubelet("1"))
	if diff := cmp.Diff([]string{"restart kubelet.service", "restart other.service"}, units.take()); diff != "" {
		t.Errorf("a machine without anything (-want +got):\n%s", diff)
	}
	withDropIn, without := kubelet("2"), kubelet("2")
	withDropIn.Units[0].DropIns = []gardenextensionsv1alpha1.DropIn{{Name: "10-more.conf", Content: "[Service]\nNice=1\n"}}
	without.Units = without.Units[:2]
	moved := kubelet("2")
	moved.Units = moved.Units[:2]
	moved.Files = moved.Files[:1]
	moved.Units[1].Content = new("[Service]\nExecStart=/kubelet --more\n")
	for _, step := range []struct {
		reason string
		config configuration
		want   []string
	}{
		{"nothing has changed", kubelet("1"), nil},
		{"the kubelet has another setting", kubelet("2"), []string{"restart kubelet.service"}},
		{"the drop-in of a unit of the operating system", withDropIn, []string{"restart containerd.service"}},
		{"the drop-in goes", kubelet("2"), []string{"restart containerd.service"}},
		{"a unit goes", without, []string{"stop other.service"}},
		{"a unit changes, and a file goes that no unit needs", moved, []string{"restart kubelet.service"}},
		{"nothing has changed again", moved, nil},
	} {
		apply(t, m, step.config)
		if diff := cmp.Diff(step.want, units.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	for path, want := range map[string]string{
		"/var/lib/kubelet/config": "maxPods: 2", "/etc/motd": "-", "/etc/systemd/system/other.service": "-",
		"/etc/systemd/system/containerd.service.d/10-more.conf": "-", "/etc/systemd/system/kubelet.service": "[Service]\nExecStart=/kubelet --more\n",
	} {
		if got := read(t, m, path); got != want {
			t.Errorf("file %q has %q, want %q", path, got, want)
		}
	}
}

// TestWhatOthersChangeIsRepaired changes content, permissions and the kind of a file behind the agent's back.
func TestWhatOthersChangeIsRepaired(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("maxPods: 9"), 0o644) },
		"mode":    func(path string) error { return os.Chmod(path, 0o666) },
		"gone":    os.Remove,
		"link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, units := machine(t)
			apply(t, m, kubelet("1"))
			units.take()
			path := filepath.Join(m.Root, "/var/lib/kubelet/config")
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			apply(t, m, kubelet("1"))
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, m, "/var/lib/kubelet/config"); got != "maxPods: 1" || info.Mode() != 0o644 {
				t.Errorf("the file has %q and mode %s, want what is configured", got, info.Mode())
			}
			if diff := cmp.Diff([]string{"restart kubelet.service"}, units.take()); diff != "" {
				t.Errorf("units (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpecialBitsDoNotCount: a file whose mode has more than permissions is as it should be once it is written.
func TestSpecialBitsDoNotCount(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	c := kubelet("1")
	c.Files[0].Permissions = new(uint32(0o6750))
	apply(t, m, c)
	units.take()
	info, err := os.Stat(filepath.Join(m.Root, c.Files[0].Path))
	if err != nil || info.Mode() != 0o750 {
		t.Errorf("Stat(...) = %v, %v, want mode 0750", info, err)
	}
	apply(t, m, c)
	if got := units.take(); got != nil {
		t.Errorf("units when nothing has changed: %q, want none", got)
	}
}

// TestAnInterruptedChangeIsFinished ends the agent between a file and the restart of its unit, which no look at files can tell afterwards.
func TestAnInterruptedChangeIsFinished(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	apply(t, m, kubelet("1"))
	units.take()
	units.fails = "kubelet.service"
	next := kubelet("2")
	next.Units = next.Units[:2]
	if err := m.Apply(t.Context(), next); !errors.Is(err, errUnit) {
		t.Fatalf("Apply(...) = %v, want that the unit does not start", err)
	}
	if settled, err := m.Settled(next); settled || err != nil {
		t.Errorf("Settled(...) = %t, %v, although the kubelet was not restarted", settled, err)
	}
	units.take()
	units.fails = ""
	again := &nodeagent.Machine{Root: m.Root, HostName: m.HostName, StateDir: m.StateDir, Units: units}
	apply(t, again, next)
	if got := units.take(); !slices.Contains(got, "restart kubelet.service") {
		t.Errorf("units after the interruption: %q, want that the kubelet is restarted", got)
	}
	apply(t, again, next)
	if got := units.take(); got != nil {
		t.Errorf("units when all is done: %q, want none", got)
	}
}

// TestNothingIsLeftOfAnInterruptedFile: an agent that was killed while it wrote leaves a file, which may be a secret. The next one removes it, whether
// it writes that file, has it already, or takes it away.
func TestNothingIsLeftOfAnInterruptedFile(t *testing.T) {
	t.Parallel()
	less := kubelet("1")
	less.Files, less.Units = less.Files[1:], nil
	for reason, tc := range map[string]struct {
		next configuration
		want []string
	}{
		"the file is written":    {next: kubelet("2"), want: []string{"config"}},
		"the file is as before":  {next: kubelet("1"), want: []string{"config"}},
		"the file is not wanted": {next: less},
	} {
		m, _ := machine(t)
		apply(t, m, kubelet("1"))
		folder := filepath.Join(m.Root, "/var/lib/kubelet")
		secret := filepath.Join(t.TempDir(), "secret")
		if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.Symlink(secret, filepath.Join(folder, ".config.gardener-node-agent"))); err != nil {
			t.Fatal(err)
		}
		apply(t, m, tc.next)
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range entries {
			got = append(got, entry.Name())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s\nthe folder has (-want +got):\n%s", reason, diff)
		}
		if data, err := os.ReadFile(secret); err != nil || len(data) > 0 {
			t.Errorf("%s\nwhat a link there leads to has %q, %v, want that it is left alone", reason, data, err)
		}
	}
}

// TestFailuresDoNotRepeatWhatSucceeded takes a drop-in from one unit while another one does not start: a kubelet that is well must not restart
// with every try.
func TestFailuresDoNotRepeatWhatSucceeded(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	c := kubelet("1")
	c.Units[1].DropIns = []gardenextensionsv1alpha1.DropIn{{Name: "10-more.conf", Content: "[Service]\nNice=1\n"}}
	apply(t, m, c)
	units.take()
	units.fails = "other.service"
	next := kubelet("1")
	next.Units[2].Content = new("[Service]\nExecStart=/other --more\n")
	for _, want := range [][]string{{"restart kubelet.service"}, nil} {
		if err := m.Apply(t.Context(), next); !errors.Is(err, errUnit) {
			t.Fatalf("Apply(...) = %v, want that the unit does not start", err)
		}
		if diff := cmp.Diff(want, units.take()); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
	}
	units.fails = ""
	apply(t, m, next)
	if diff := cmp.Diff([]string{"restart other.service"}, units.take()); diff != "" {
		t.Errorf("units when it starts (-want +got):\n%s", diff)
	}
}

// TestHangingUnitsDoNotHoldTheOthers has one unit that never starts, and one that never ends.
func TestHangingUnitsDoNotHoldTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, units := machine(t)
		apply(t, m, kubelet("1"))
		units.take()
		units.hangs = "kubelet.service"
		next := kubelet("2")
		next.Units[2].Content = new("[Service]\nExecStart=/other --more\n")
		if err := m.Apply(t.Context(), next); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Apply(...) = %v, want that the unit takes too long", err)
		}
		if diff := cmp.Diff([]string{"restart other.service"}, units.take()); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
		units.hangs = "other.service"
		next.Units = next.Units[:2]
		if err := m.Apply(t.Context(), next); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Apply(...) = %v, want that the unit takes too long to end", err)
		}
	})
}

// withAgent is a configuration with the agent before the other units.
func withAgent(text string) configuration {
	c := kubelet(text)
	c.Units = append([]unit{{Name: nodeagent.Unit, Content: new("[Service]\nExecStart=/agent " + text + "\n")}}, c.Units...)
	return c
}

// TestAgentEndsLast has the agent in the middle of the units: when it ends, nothing must be left to do.
func TestAgentEndsLast(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	apply(t, m, withAgent("1"))
	units.take()
	var settled bool
	units.when = func(name string) {
		if name == nodeagent.Unit {
			settled, _ = m.Settled(withAgent("2"))
		}
	}
	apply(t, m, withAgent("2"))
	if diff := cmp.Diff([]string{"restart kubelet.service", "restart " + nodeagent.Unit}, units.take()); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if !settled {
		t.Error("something is left to do when the agent restarts itself")
	}
}

// TestAgentThatDoesNotRestart: the agent tries again what has failed, and does nothing once it has ended as it wanted to.
func TestAgentThatDoesNotRestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		ends   bool
		want   []string
	}{
		"Fails": {reason: "the restart has failed", want: []string{"restart " + nodeagent.Unit}},
		"Ends":  {reason: "the agent is ended before it knows that the restart is under way", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, units := machine(t)
			apply(t, m, withAgent("1"))
			ctx, end := context.WithCancel(t.Context())
			defer end()
			units.fails = nodeagent.Unit
			units.when = func(name string) {
				if name == nodeagent.Unit && tc.ends {
					end()
				}
			}
			if err := m.Apply(ctx, withAgent("2")); !errors.Is(err, errUnit) {
				t.Fatalf("Apply(...) = %v, want %v", err, errUnit)
			}
			units.take()
			units.fails = ""
			apply(t, m, withAgent("2"))
			if diff := cmp.Diff(tc.want, units.take()); diff != "" {
				t.Errorf("%s\nunits of the next pass (-want +got):\n%s", tc.reason, diff)
			}
			apply(t, m, withAgent("2"))
			if got := units.take(); got != nil {
				t.Errorf("%s\nunits when all is done: %q, want none", tc.reason, got)
			}
		})
	}
}

// TestFilesForOneMachine_EXT_OSC_7 has a file for all machines and another one in its place for one of them.
func TestFilesForOneMachine_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	c := configuration{Files: []file{inline("/etc/one", "of a"), inline("/etc/one", "of all"), inline("/etc/b", "of b")}}
	c.Files[0].HostName, c.Files[2].HostName = new("a"), new("b")
	m, _ := machine(t)
	apply(t, m, c)
	if one, b := read(t, m, "/etc/one"), read(t, m, "/etc/b"); one != "of a" || b != "-" {
		t.Errorf("machine a has %q and %q, want its own file and none of machine b", one, b)
	}
}

func TestUnusableConfigurationsChangeNothing_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	relative, climbing, empty, foreign, twice, ofOne := kubelet("2"), kubelet("2"), kubelet("2"), kubelet("2"), kubelet("2"), kubelet("2")
	twice.Files = append(twice.Files, inline("/etc/motd", "of another"))
	ofOne.Files = append(ofOne.Files, inline("/etc/one", "1"), inline("/etc/one", "2"))
	for i := range ofOne.Files[2:] {
		ofOne.Files[2+i].HostName = new("a")
	}
	relative.Files = append(relative.Files, inline("etc/x", ""))
	climbing.Files = append(climbing.Files, inline("/etc/../x", ""))
	empty.Files = append(empty.Files, file{Path: "/x"})
	foreign.Units = append(foreign.Units, unit{Name: "../x.service", Content: new("")})
	for name, c := range map[string]configuration{"relative": relative, "climbing": climbing, "empty": empty, "foreign": foreign, "twice": twice, "twice for one": ofOne} {
		m, units := machine(t)
		apply(t, m, kubelet("1"))
		units.take()
		if err := m.Apply(t.Context(), c); err == nil {
			t.Errorf("%s: Apply(...) accepts it", name)
		}
		if got := read(t, m, "/var/lib/kubelet/config"); got != "maxPods: 1" || units.take() != nil {
			t.Errorf("%s: half of it is applied", name)
		}
	}
	m, _ := machine(t)
	if err := m.Apply(t.Context(), twice); err == nil || !strings.Contains(err.Error(), `file "/etc/motd": it is there twice for all machines`) {
		t.Errorf("Apply(...) = %v, want an error that names the file", err)
	}
	if _, err := nodeagent.Decode([]byte("files: []\nfuture: {}\n")); err == nil {
		t.Error("Decode(...) accepts what it does not know")
	}
}
