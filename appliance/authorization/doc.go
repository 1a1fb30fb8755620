// SPDX-License-Identifier: Apache-2.0

// Package authorization decides what the gardenlet of one seed may do in the garden, so that no seed sees or changes what
// belongs to another.
//
// Package seedclient says which seed a request comes from. Package graph remembers which object belongs to which seed;
// package references says what an object of each kind refers to, and package feed watches the garden and tells the
// graph. Package seedauthorizer holds the rules: an authorizer that stands before RBAC and that allows, or has no
// opinion. What a request writes, and not only where, is judged by the admission rule seedrestriction.
package authorization
