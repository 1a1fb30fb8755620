// SPDX-License-Identifier: Apache-2.0

// Package admission lists the garden's own admission plugins: checks and defaults that need objects other than that of the
// request. Each plugin has a folder; all of them see the garden through package world.
package admission
