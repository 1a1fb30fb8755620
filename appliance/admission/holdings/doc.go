// SPDX-License-Identifier: Apache-2.0

// Package holdings knows what the Shoots of a garden hold: a domain, which no other shoot may have (API-SVAL-18), and places on
// seeds, of which there is a limited number (API-SVAL-4). Rules ask it in place of listing all shoots, so that a request costs
// the same in a garden of 10 and of 10,000 shoots. Of Quotas it knows only what requests of the last minutes were allowed to use
// (API-QUOTA-4); what shoots use depends on their profiles, so the rule lists the shoots that share a Quota.
//
// It is told of each write of a shoot by the store that writes, before the writer has its answer, so it is never behind. What a
// request was allowed to take is claimed until its write must be known, or until it is refused: of two requests at once that want the
// same, the second one finds the claim of the first. All shoots are listed once, when the first question comes.
//
// Only one server process of a garden writes at a time: the one that leads, see package leader. Another one that writes to the same store
// would not be seen.
package holdings
