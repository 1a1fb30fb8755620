// SPDX-License-Identifier: Apache-2.0

// Package identity keeps who the garden is: its certificate authorities, the certificates it issues to itself, the key
// that signs service account tokens, the key that encrypts Secrets at rest, and the tokens by which seeds join.
//
// Everything lies in the data directory:
//
//	<dir>/lock                      held by the one process that uses the directory, with its process id
//	<dir>/layout                    version of this layout; a newer one is refused
//	<dir>/admin.kubeconfig          written at each start
//	<dir>/pki/server-ca.{crt,key}   signs the serving certificate; published at /cacerts
//	<dir>/pki/client-ca.{crt,key}   signs client certificates
//	<dir>/pki/front-proxy-ca.{crt,key}
//	<dir>/pki/{serving,admin,front-proxy-client}.pem   certificate and key in one file
//	<dir>/pki/service-account.key
//	<dir>/pki/workload-identity.key signs tokens of workload identities; its public part is published; since layout 2
//	<dir>/pki/encryption.yaml
//
// The pki directory appears as a whole, by one rename, and files in it are replaced as a whole, so a crash never leaves
// half of one. What the authorities can issue again is issued again when it is missing, about to expire or no longer
// fits; what nobody can make again is never overwritten: if it is missing or unreadable, Ensure says which file it is
// and what to do.
package identity
