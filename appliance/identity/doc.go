// SPDX-License-Identifier: Apache-2.0

// Package identity manages the identity of a garden: its certificate authorities, its own certificates, the key that signs
// service account tokens, the key that encrypts Secrets at rest, and the tokens for joining seeds.
//
// It is stored in the data directory:
//
//	<dir>/lock                      locked by the process that uses the directory; contains the process id
//	<dir>/layout                    version of this layout; a newer one is an error
//	<dir>/admin.kubeconfig          written at each start
//	<dir>/pki/server-ca.{crt,key}   signs the serving certificate; published at /cacerts
//	<dir>/pki/client-ca.{crt,key}   signs client certificates
//	<dir>/pki/front-proxy-ca.{crt,key}
//	<dir>/pki/{serving,admin,front-proxy-client}.pem   certificate and key in one file
//	<dir>/pki/service-account.key
//	<dir>/pki/workload-identity.key signs tokens of workload identities; its public part is published; since layout 2
//	<dir>/pki/encryption.yaml
//	<dir>/pki/client-ca-signer.pem  certificate and key of client-ca in one file; written anew if it is missing
//
// While something is changed in several steps, there are further files:
//
//	<dir>/pki/service-account-former.pub
//	<dir>/pki/encryption-rotation.json
//	<dir>/pki/authority-rotation.json
//	<dir>/pki/{server-ca,client-ca,front-proxy-ca}-next.pem
//
// The pki directory is created by one rename, and its files are replaced by renames, so a crash never leaves a part of one.
// Certificates that the authorities can issue are renewed if they are missing, expire soon or do not match. Keys and authorities
// are replaced only by a rotation, whose steps can be repeated: if one is missing or unreadable, Ensure returns an error that names
// the file and the remedy.
//
// A Garden is made of parts: Authorities, Certificates, Encryption, and the keyrings of service accounts and of workload identities. Who
// uses them reads them, and renews Certificates, which each server has for itself. What all servers of a garden have alike is changed by
// Changes, which makes the steps of rotations, and by Sharing, which takes up the steps of the server that leads; one at a time. If there
// are other servers, a step is made on a copy and published before it is made.
package identity
