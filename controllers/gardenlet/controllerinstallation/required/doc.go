// SPDX-License-Identifier: Apache-2.0

// Package required finds out which installed extensions are in use: as long as the seed has an extension object of a kind
// and type that an extension is registered for, the condition Required of its ControllerInstallation is True, and the
// garden keeps it installed.
//
// It decides from caches of every extension kind, which are filled before it starts, so it never takes an object that
// it has not seen yet for one that does not exist.
package required
