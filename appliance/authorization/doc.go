// SPDX-License-Identifier: Apache-2.0

// Package authorization decides what the gardenlet of one seed, or of one self-hosted shoot, may do in the garden, so that none
// sees or changes what belongs to another.
//
// Packages seedclient and shootclient determine the seed or the shoot that a request comes from. Package graph records which object
// belongs to which seed; package references has the references of an object of each kind, and package feed watches the garden and
// updates the graph. Package selfhosted has the self-hosted shoots, with a graph of their own. Package rules decides by a table of rules
// and a graph; packages seedauthorizer and shootauthorizer have the tables: authorizers before RBAC that allow a request or have no
// opinion. The admission plugins seedrestriction and shootrestriction check the contents of what is written.
package authorization
