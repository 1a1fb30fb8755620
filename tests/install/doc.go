// SPDX-License-Identifier: Apache-2.0

// Package install tests the packages under a real systemd: a Debian in a container installs, starts, kills, upgrades and removes the
// service as an operator does. "make test-install" builds what it needs and runs it.
package install
