// SPDX-License-Identifier: Apache-2.0

// Package e2e tells the story of the README with the built binaries, a seedling and real machines, and then does to it
// what must not hurt: bad input, missing images, killed processes. It needs root on Linux and what scripts/prerequisites
// installs; `make test-e2e` prepares all of that.
package e2e
