// SPDX-License-Identifier: Apache-2.0

// Package assembly turns a list of components into tasks of a flow: for each component one that deploys it, one that waits for
// it and one that deletes it. What a component consists of is remembered in an inventory of its own in the cluster, so that
// whatever leaves its rendering is deleted, and a deletion finds everything without rendering anything.
package assembly
