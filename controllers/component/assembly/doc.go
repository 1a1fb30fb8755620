// SPDX-License-Identifier: Apache-2.0

// Package assembly turns a list of components into tasks of a flow: for each component one that deploys it, one that waits for
// it and one that deletes it. An inventory in the cluster lists the objects of each component. So an object that is no longer
// rendered is deleted, and a deletion finds all objects without rendering anything.
package assembly
