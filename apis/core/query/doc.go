// SPDX-License-Identifier: Apache-2.0

// Package query answers questions about objects of core.gardener.cloud: in which stage of life a version is, what
// speaks against a seed, what a shoot wants. It is pure: the time and all objects are handed in, and an answer never
// changes them.
package query
