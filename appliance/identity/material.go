// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"path/filepath"
	"sync"
	"time"
)

// material is what a data directory has of authorities, certificates and keys. A step of a rotation is made on that of the garden, or
// first on that of a copy.
type material struct {
	// dir is the data directory.
	dir string
	// mu guards the authorities and certificates, which refer to it, and the directory of keys.
	mu sync.RWMutex

	authorities      *Authorities
	certificates     *Certificates
	encryption       *Encryption
	serviceAccount   *ServiceAccountKeyring
	workloadIdentity *WorkloadIdentityKeyring
}

// materialIn returns the material of a data directory. Nothing is read yet.
func materialIn(dir string) *material {
	pki := filepath.Join(dir, pkiDir)
	m := &material{
		dir: dir, encryption: newEncryption(pki), serviceAccount: newServiceAccountKeyring(pki), workloadIdentity: newWorkloadIdentityKeyring(pki),
	}
	m.authorities = &Authorities{pki: pki, mu: &m.mu}
	m.certificates = &Certificates{dir: dir, authorities: m.authorities, mu: &m.mu}

	return m
}

// authoritySteps returns the steps of a rotation of the authorities.
func (m *material) authoritySteps() authoritySteps {
	return authoritySteps{authorities: m.authorities, certificates: m.certificates, next: nextAuthorities{pki: m.authorities.pki}}
}

// ensure makes what is missing if the directory is new, takes an interrupted rotation of the authorities to its end, and renews
// certificates.
func (m *material) ensure(now time.Time) error {
	version, err := readLayout(m.dir)
	if err != nil {
		return err
	}
	if err := ensurePKI(m.dir, version > 0, now); err != nil {
		return err
	}
	if err := m.load(now); err != nil {
		return err
	}
	if err := m.authoritySteps().resume(m.dir, now); err != nil {
		return err
	}
	if err := m.workloadIdentity.read(version); err != nil {
		return err
	}
	if _, err := m.certificates.issue(now, false); err != nil {
		return err
	}
	if version == Layout {
		return nil
	}
	return writeLayout(m.dir)
}

// load reads and checks the keys and authorities.
func (m *material) load(now time.Time) error {
	if err := m.authorities.load(now); err != nil {
		return err
	}
	if err := m.encryption.check(); err != nil {
		return err
	}
	return m.serviceAccount.read()
}

// reread reads all keys and authorities again, and issues what depends on them. The caller holds mu.
func (m *material) reread(now time.Time) error {
	if err := m.authoritySteps().take(now); err != nil {
		return err
	}
	if err := m.serviceAccount.read(); err != nil {
		return err
	}

	return m.workloadIdentity.read(Layout)
}
