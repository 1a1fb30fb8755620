// SPDX-License-Identifier: Apache-2.0

// Package options defines groups of flags and reads the configuration file of the server. A group is set by flags, completed
// from the file and the environment, and validated before anything starts. Errors name the flag, or the path in the file.
package options
