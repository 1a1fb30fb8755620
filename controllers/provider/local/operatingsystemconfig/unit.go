// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	"fmt"
	"path"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	containerdUnit = "containerd.service"
	sysctlUnit     = "systemd-sysctl.service"
	kubeletUnit    = "kubelet.service"
	// kubeletArgs is the variable with the flags that only the machine knows.
	kubeletArgs = "$KUBELET_EXTRA_ARGS"
)

// service is what a machine without systemd needs to know of a unit.
type service struct {
	oneshot bool
	// lines are shell commands to run before the service.
	lines []string
	// commands are the command lines of the service; all but those of a oneshot service have exactly one.
	commands []string
}

// runs reports whether the machine has to run the unit.
func runs(u gardenextensionsv1alpha1.Unit) bool {
	disabled := u.Enable != nil && !*u.Enable
	stopped := u.Command != nil && *u.Command == gardenextensionsv1alpha1.UnitCommandStop
	return path.Ext(u.Name) == ".service" && u.Content != nil && !disabled && !stopped
}

// parseService reads the unit and its drop-ins in their order. As in systemd, an empty assignment resets the setting.
func parseService(u gardenextensionsv1alpha1.Unit) (service, error) {
	contents := []string{*u.Content}
	for _, dropIn := range u.DropIns {
		contents = append(contents, dropIn.Content)
	}
	parsed := service{}
	before := map[string][]string{}
	for _, content := range contents {
		options, err := unit.DeserializeOptions(strings.NewReader(content))
		if err != nil {
			return service{}, fmt.Errorf("read unit %q: %w", u.Name, err)
		}
		for _, option := range options {
			if option.Section == "Service" {
				parsed.take(before, option.Name, option.Value)
			}
		}
	}
	for _, name := range []string{"Environment", "EnvironmentFile", "ExecStartPre"} {
		parsed.lines = append(parsed.lines, before[name]...)
	}
	if len(parsed.commands) != 1 && !parsed.oneshot {
		return service{}, fmt.Errorf("read unit %q: it has %d ExecStart lines, not one", u.Name, len(parsed.commands))
	}
	if u.Name == kubeletUnit && !strings.Contains(parsed.commands[0], "KUBELET_EXTRA_ARGS") {
		parsed.commands[0] += " " + kubeletArgs
	}
	return parsed, nil
}

func (s *service) take(before map[string][]string, name, value string) {
	var line string
	switch name {
	case "Type":
		s.oneshot = value == "oneshot"
		return
	case "ExecStart":
		if value == "" {
			s.commands = nil
			return
		}
		s.commands = append(s.commands, command(value))
		return
	case "ExecStartPre":
		line = command(value)
	case "Environment":
		line = "export " + value
	case "EnvironmentFile":
		line = environmentFile(value)
	default:
		return
	}
	if value == "" {
		delete(before, name)
		return
	}
	before[name] = append(before[name], line)
}

// command turns a command line of systemd into one of the shell. It removes the prefixes, of which only `-` has an effect here.
func command(value string) string {
	bare := strings.TrimLeft(value, "@-:+!")
	if strings.Contains(value[:len(value)-len(bare)], "-") {
		return bare + " || true"
	}
	return bare
}

func environmentFile(value string) string {
	file, optional := strings.CutPrefix(value, "-")
	load := "set -a; . " + quote(file) + "; set +a"
	if optional {
		return "if [ -r " + quote(file) + " ]; then " + load + "; fi"
	}
	return load
}

// script is what the machine runs for the service.
func (s service) script(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# %s\nset -e\n", name)
	for _, line := range s.lines {
		b.WriteString(line + "\n")
	}
	if s.oneshot {
		b.WriteString(strings.Join(s.commands, "\n") + "\n")
		return b.String()
	}
	b.WriteString("exec " + s.commands[0] + "\n")
	return b.String()
}
