// SPDX-License-Identifier: Apache-2.0

// Package csr answers the certificate signing requests of gardenlets (GCM-CSR-1 to GCM-CSR-6). A request is approved only
// if it asks for exactly a seed client certificate, its author may create seed clients, and what the author has shown is
// good for this seed: a gardenlet that has a certificate can only renew it, a join token gives one certificate, of the
// seed that it was made for. Requests with a token that is not good for them are denied with the reason; everything else
// is left for people to judge.
//
// A token is marked as used before its request is approved. A gardenlet that asked and ended before it had stored its
// certificate may ask again with the same key, as the answer is worth nothing to anybody else; without the key, an
// operator makes another token.
package csr
