// SPDX-License-Identifier: Apache-2.0

// Package rotation changes the certificates, authorities, keys and passwords of a garden while it runs.
//
// A rotation that takes time has two steps. After the first one the new and the former are both accepted; the second one forgets the former,
// and is refused while somebody depends on it. What is in between is in the data directory (package identity), so a server that was stopped
// goes on where it was. Three loops do what is left to do: [Certificates] are renewed when they are due, [Encryption] rewrites objects with
// the new key, [Authorities] has gardenlets take up the next authorities and renew their tokens.
//
// There are two doors: requests of operators ([Rotations.Rotate]), and the operation annotation of the Garden ([Rotations.Operate]).
package rotation
