// SPDX-License-Identifier: Apache-2.0

// Package authorization decides what the gardenlet of one seed may do in the garden, so that no seed sees or changes what
// belongs to another.
//
// Package seedclient determines the seed that a request comes from. Package graph records which object belongs to which
// seed; package references has the references of an object of each kind, and package feed watches the garden and updates the
// graph. Package seedauthorizer has the rules: an authorizer before RBAC that allows a request or has no opinion. The
// admission plugin seedrestriction checks the contents of what is written.
package authorization
