// SPDX-License-Identifier: Apache-2.0

// Package node changes the machine that a seedling runs on, and undoes it: addresses, routes, firewall
// tables, kernel settings, control groups, mounts, and the container runtime's sandboxes and images.
package node
