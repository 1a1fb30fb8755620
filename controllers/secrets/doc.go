// SPDX-License-Identifier: Apache-2.0

// Package secrets keeps the certificate authorities, certificates and keys of one shoot as Secrets in its namespace.
//
// A run gets what an earlier run has made, as long as it asks for the same and the certificate is not about to expire.
// Otherwise it gets a new Secret with a new name, because every Secret is immutable and named after a hash of the request.
// So workloads that refer to a Secret by name are rolled out exactly when its content changes. Authorities keep their plain
// names. Cleanup removes what nobody asked for in this run.
package secrets
