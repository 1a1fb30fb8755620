// SPDX-License-Identifier: Apache-2.0

// Package options holds what can be said to the binary from outside: groups of flags, and the configuration file of the
// server. A group is filled by flags, completed with the file and the environment, and validated before anything
// starts; each wrong value is named by its flag, or by its path in the file.
package options
