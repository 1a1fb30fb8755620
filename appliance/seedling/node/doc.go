// SPDX-License-Identifier: Apache-2.0

// Package node changes the machine that a seedling runs on, and undoes the changes: addresses, routes, firewall
// tables, kernel settings, control groups, mounts, and sandboxes and images of the container runtime.
package node
