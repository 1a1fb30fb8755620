// SPDX-License-Identifier: Apache-2.0

// Package secrets keeps the certificate authorities, certificates and keys of one shoot as Secrets in its namespace.
//
// What a run asks for is taken from an earlier run as long as the wish is the same and the certificate is far from its
// end; otherwise it is made anew under a new name, because every Secret is immutable and named after a hash of the wish.
// Workloads that refer to a Secret by name therefore roll exactly when its content changes. Authorities keep their plain
// names. Cleanup removes what nobody asked for in this run.
package secrets
