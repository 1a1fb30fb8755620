// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package ui_test

import (
	"os/exec"
	"testing"
)

// startApart starts a command in the network of the machine: only Linux has network namespaces.
func startApart(t *testing.T, command *exec.Cmd, _ ...string) error {
	t.Helper()

	return command.Start()
}
