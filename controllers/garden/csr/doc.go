// SPDX-License-Identifier: Apache-2.0

// Package csr approves or denies the certificate signing requests of gardenlets (GCM-CSR-1 to GCM-CSR-7). A request is approved
// only if it is for exactly a seed client certificate, its author may create seed clients, and the credentials of the author are
// valid for this seed: a gardenlet that has a certificate can only renew it, and a join token is valid for one certificate of
// the seed that it was created for. While a seed is shut out, it gets none, and neither do the managed seeds on it with what its gardenlet
// made for them. Requests with a token that is not valid for them are denied with the reason. All other requests stay pending, for people to
// decide.
//
// The gardenlet of a self-hosted shoot gets its certificate in the same way: with a token for this shoot, which is for no seed, once the
// shoot exists. Other requests for clients of such shoots are denied, except those of the tool that connects a shoot, if they have a token for
// the shoot: these are left to people.
//
// A token is marked as used before its request is approved. A gardenlet that ended before it had stored its certificate may ask
// again with the same key, because the certificate is useless without it. Without the key, an operator has to create another
// token.
package csr
