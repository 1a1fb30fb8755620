// SPDX-License-Identifier: Apache-2.0

// Package query answers questions about objects of core.gardener.cloud: in which stage of its lifecycle a version is, why a
// seed cannot take a shoot, what a shoot asks for. Its functions are pure: they get the time and all objects as arguments
// and do not change them.
package query
