// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// TestUnitsThatAreTurnedOnOrOff changes what nothing in a file tells: whether a unit is enabled, and whether it runs.
func TestUnitsThatAreTurnedOnOrOff(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	apply(t, m, kubelet("1"))
	units.take()
	with := func(change func(all []unit) []unit) configuration {
		c := kubelet("1")
		c.Units = change(c.Units)
		return c
	}
	disabled := with(func(all []unit) []unit { all[2].Enable = new(false); return all })
	stopped := with(func(all []unit) []unit { all[2].Command = new(gardenextensionsv1alpha1.UnitCommandStop); return all })
	more := func(runs bool) configuration {
		return with(func(all []unit) []unit { return append(all, unit{Name: "ntp.service", Enable: new(runs)}) })
	}
	for _, step := range []struct {
		reason string
		config configuration
		want   []string
	}{
		{"a unit is disabled", disabled, []string{"restart other.service"}},
		{"nothing has changed", disabled, nil},
		{"it is stopped instead", stopped, []string{"restart other.service"}},
		{"it is left alone again", kubelet("1"), []string{"restart other.service"}},
		{"a unit of the operating system is turned on", more(true), []string{"restart ntp.service"}},
		{"it is turned off", more(false), []string{"restart ntp.service"}},
		{"nothing has changed again", more(false), nil},
	} {
		apply(t, m, step.config)
		if diff := cmp.Diff(step.want, units.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	units.fails = "ntp.service"
	if err := m.Apply(t.Context(), more(true)); !errors.Is(err, errUnit) {
		t.Fatalf("Apply(...) = %v, want that the unit does not start", err)
	}
	units.fails = ""
	again := &nodeagent.Machine{Root: m.Root, HostName: m.HostName, StateDir: m.StateDir, Units: units}
	apply(t, again, more(true))
	if diff := cmp.Diff([]string{"restart ntp.service"}, units.take()); diff != "" {
		t.Errorf("units after one that failed (-want +got):\n%s", diff)
	}
}

// TestFileBecomesFolder replaces a file by others below its path, and interrupts that.
func TestFileBecomesFolder(t *testing.T) {
	t.Parallel()
	m, units := machine(t)
	before, after := kubelet("1"), kubelet("1")
	before.Files = append(before.Files, inline("/etc/mirrors", "one"))
	after.Files = append(after.Files, inline("/etc/mirrors/a/hosts", "two"))
	after.Units[1].FilePaths = append(after.Units[1].FilePaths, "/etc/mirrors/a/hosts")
	apply(t, m, before)
	units.take()
	units.fails = "kubelet.service"
	if err := m.Apply(t.Context(), after); !errors.Is(err, errUnit) {
		t.Fatalf("Apply(...) = %v, want that the unit does not start", err)
	}
	units.fails = ""
	apply(t, m, after)
	if diff := cmp.Diff([]string{"restart kubelet.service"}, units.take()); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if got := read(t, m, "/etc/mirrors/a/hosts"); got != "two" {
		t.Errorf("the file has %q", got)
	}
	if settled, err := m.Settled(after); !settled || err != nil {
		t.Errorf("Settled(...) = %t, %v", settled, err)
	}
}

// TestFilesThatAreClaimedTwice: each pass would write both and restart the unit, without end.
func TestFilesThatAreClaimedTwice(t *testing.T) {
	t.Parallel()
	file, same, units := kubelet("1"), kubelet("1"), kubelet("1")
	file.Files = append(file.Files, inline("/etc/systemd/system/other.service", "[Service]\nExecStart=/else\n"))
	same.Files = append(same.Files, inline("/etc/systemd/system/other.service", "[Service]\nExecStart=/other\n"))
	units.Units = append(units.Units, unit{Name: "other.service", Content: new("[Service]\nExecStart=/else\n")})
	for reason, tc := range map[string]struct {
		config configuration
		want   bool
	}{
		"a file and a unit differ":          {config: file, want: true},
		"two units differ":                  {config: units, want: true},
		"a file and a unit want the same":   {config: same},
		"nobody wants what others want too": {config: kubelet("1")},
	} {
		m, did := machine(t)
		err := m.Apply(t.Context(), tc.config)
		if refused := err != nil && strings.Contains(err.Error(), "/etc/systemd/system/other.service"); refused != tc.want || (err != nil) != tc.want {
			t.Errorf("%s: Apply(...) = %v, want an error: %t", reason, err, tc.want)
		}
		if got := did.take(); tc.want && got != nil {
			t.Errorf("%s: units: %q, want none", reason, got)
		}
	}
}

// TestMergeUnits_EXT_OSC_4 adds what an operating system says of a unit to what all machines have of it.
func TestMergeUnits_EXT_OSC_4(t *testing.T) {
	t.Parallel()
	given := []unit{
		{
			Name: "containerd.service", Enable: new(true), Command: new(gardenextensionsv1alpha1.UnitCommandStart), FilePaths: []string{"/a", "/b"},
			DropIns: []gardenextensionsv1alpha1.DropIn{{Name: "10.conf", Content: "one"}, {Name: "20.conf", Content: "two"}},
		},
		{Name: "kubelet.service", Content: new("[Service]")},
		{
			Name: "containerd.service", Command: new(gardenextensionsv1alpha1.UnitCommandRestart), FilePaths: []string{"/b", "/c"},
			DropIns: []gardenextensionsv1alpha1.DropIn{{Name: "10.conf", Content: "three"}},
		},
		{Name: "kubelet.service", Enable: new(false)},
		{Name: "own.service"},
	}
	want := []unit{
		{
			Name: "containerd.service", Enable: new(true), Command: new(gardenextensionsv1alpha1.UnitCommandRestart), FilePaths: []string{"/a", "/b", "/c"},
			DropIns: []gardenextensionsv1alpha1.DropIn{{Name: "20.conf", Content: "two"}, {Name: "10.conf", Content: "three"}},
		},
		{Name: "kubelet.service", Content: new("[Service]"), Enable: new(false)},
		{Name: "own.service"},
	}
	if diff := cmp.Diff(want, nodeagent.MergeUnits(given)); diff != "" {
		t.Errorf("MergeUnits(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/a", "/b"}, given[0].FilePaths); diff != "" {
		t.Errorf("what was given is changed (-want +got):\n%s", diff)
	}
}
