// SPDX-License-Identifier: Apache-2.0

// Package kind turns what a kind says about itself (Rules) into stores that the API server can serve: the main
// resource, its status, and further subresources that write another part of the same object.
//
// What holds for every kind of the garden lives here once: create resets the status and starts the generation at 1,
// an update can never change the status and a status update never the spec (API-RES-7), the generation grows with the
// spec or with the first sight of a deletion timestamp (API-STRAT-2), PUT never creates (API-STRAT-8), and a collection is
// deleted only when each object of it may be (API-ADM-5).
package kind
