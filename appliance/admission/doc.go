// SPDX-License-Identifier: Apache-2.0

// Package admission lists the garden's own rules about requests: checks and defaults that need other objects than the
// one at hand. Each rule is a folder; all of them see the garden through package world.
package admission
