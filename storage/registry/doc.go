// SPDX-License-Identifier: Apache-2.0

// Package registry lists the API groups that the garden serves and builds their stores. Each kind has a folder
// <group>/<kind> with its rules and its stores; package kind has the code that they share.
package registry
