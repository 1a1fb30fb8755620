// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// AllowForwarding allows the packets of pods if another firewall, such as that of Docker, drops unknown packets. It does
// nothing if packets are forwarded by default.
func AllowForwarding(ctx context.Context, bridge string) error {
	policy, err := iptables(ctx, "-S", "FORWARD")
	if err != nil || !strings.Contains(policy, "-P FORWARD DROP") {
		return nil //nolint:nilerr // Without iptables there are no rules that drop packets.
	}
	for _, rule := range forwardRules(bridge) {
		if _, err := iptables(ctx, append([]string{"-C"}, rule...)...); err == nil {
			continue
		}
		if _, err := iptables(ctx, append([]string{"-I"}, rule...)...); err != nil {
			return err
		}
	}
	return nil
}

// ForbidForwarding undoes AllowForwarding and returns how many rules it removed.
func ForbidForwarding(ctx context.Context, bridge string) (int, error) {
	rules, err := iptables(ctx, "-S", "FORWARD")
	if errors.Is(err, exec.ErrNotFound) || exitCode(err) > 0 {
		return 0, nil // Where iptables cannot list the rules, AllowForwarding has made none.
	}
	if err != nil {
		return 0, fmt.Errorf("list firewall rules: %w", err)
	}
	if !strings.Contains(rules, bridge) {
		return 0, nil
	}
	removed := 0
	for _, rule := range forwardRules(bridge) {
		_, err := iptables(ctx, append([]string{"-C"}, rule...)...)
		if exitCode(err) == noRule {
			continue
		}
		if err != nil {
			return removed, err
		}
		if _, err := iptables(ctx, append([]string{"-D"}, rule...)...); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// noRule is the exit code of iptables if a rule does not exist.
const noRule = 1

// exitCode returns the exit code of a program that failed, or -1 for other errors, for a program that was killed, and for none.
func exitCode(err error) int {
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return failed.ExitCode()
	}
	return -1
}

func forwardRules(bridge string) [][]string {
	return [][]string{
		{"FORWARD", "-i", bridge, "-j", "ACCEPT"},
		{"FORWARD", "-o", bridge, "-j", "ACCEPT"},
	}
}

func iptables(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "iptables", append([]string{"--wait"}, args...)...) //nolint:gosec // The arguments are our own.
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("iptables %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(output.String()))
	}
	return output.String(), nil
}
