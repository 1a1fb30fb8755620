// SPDX-License-Identifier: Apache-2.0

package identity

import "path/filepath"

// Unfinished is a rotation of a key or of the authorities that has begun and is not over.
type Unfinished struct {
	// What is rotated, in words.
	What string
	// Command ends the rotation, on a server that runs.
	Command string
}

// UnfinishedRotations returns the rotations that go on in a data directory. How their steps continue after a move to an external datastore
// was not tried, so none goes on there.
func UnfinishedRotations(dir string) ([]Unfinished, error) {
	key, authority, err := Rotations(dir)
	if err != nil {
		return nil, err
	}
	var all []Unfinished
	if authority != nil {
		all = append(all, Unfinished{"the certificate authorities", "terrarium certificate rotate-ca complete"})
	}
	if key != nil {
		all = append(all, Unfinished{"the encryption key", "terrarium certificate rotate-encryption-key --follow, and an hour"})
	}
	pki := filepath.Join(dir, pkiDir)
	tokens, err := loadTokenKeys(pki)
	if err != nil {
		return nil, err
	}
	if tokens.Rotating() {
		all = append(all, Unfinished{"the key of service account tokens", "terrarium certificate rotate-service-account-key complete"})
	}
	identities, err := loadWorkloadIdentityKeys(pki, Layout)
	if err != nil {
		return nil, err
	}
	if identities.Rotating() {
		all = append(all, Unfinished{"the key of workload identity tokens", "terrarium certificate rotate-workload-identity-key complete"})
	}

	return all, nil
}
