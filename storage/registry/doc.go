// SPDX-License-Identifier: Apache-2.0

// Package registry lists the API groups that the garden serves and how each is kept. A kind is a folder
// <group>/<kind> with its rules and its stores; package kind holds what all of them share.
package registry
