// SPDX-License-Identifier: Apache-2.0

package resourcemanager

// Completed are options with their defaults.
func Completed(o Options) Options { return o.completed() }
