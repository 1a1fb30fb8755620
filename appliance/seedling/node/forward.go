// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
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
	if err != nil || !strings.Contains(rules, bridge) {
		return 0, nil //nolint:nilerr // Without iptables there is nothing to remove.
	}
	removed := 0
	for _, rule := range forwardRules(bridge) {
		if _, err := iptables(ctx, append([]string{"-C"}, rule...)...); err != nil {
			continue
		}
		if _, err := iptables(ctx, append([]string{"-D"}, rule...)...); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
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
