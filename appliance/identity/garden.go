// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
)

const (
	// AdminName is the name of the administrator for whom Ensure issues a certificate, a member of AdminGroup.
	AdminName = "admin"
	// AdminGroup is the group with all permissions.
	AdminGroup = "system:masters"
	// FrontProxyName is the only name in a client certificate with which headers of the aggregation layer are accepted.
	FrontProxyName = "front-proxy-client"

	pkiDir               = "pki"
	serviceAccountFile   = "service-account.key"
	adminKubeconfigFile  = "admin.kubeconfig"
	serverAuthority      = "server-ca"
	clientAuthority      = "client-ca"
	frontProxyAuthority  = "front-proxy-ca"
	servingCommonName    = "terrarium"
	pkiStagingDirPattern = pkiDir + ".new-"
)

// Garden is the complete and checked identity of a garden. Only Ensure returns one.
type Garden struct {
	// Dir is the data directory.
	Dir string
	// Authorities are its certificate authorities.
	Authorities *Authorities
	// Certificates are those that it issues to itself.
	Certificates *Certificates
	// Encryption has the keys with which objects are stored.
	Encryption *Encryption
	// ServiceAccount has the keys of service account tokens.
	ServiceAccount *ServiceAccountKeyring
	// WorkloadIdentity has the keys of tokens of workload identities.
	WorkloadIdentity *WorkloadIdentityKeyring

	// Changes are the steps of rotations of what is above.
	Changes Changes
	// Sharing is how all servers of the garden come to have the same keys and authorities.
	Sharing *Sharing

	lock *Lock
}

// Ensure locks the data directory for this process. The first start creates the identity of a garden; later starts read it, and
// renew certificates that expire soon or do not have the names. The caller closes the result when nothing uses the directory.
// What is to be done with the locked directory before anything else is given as first.
func Ensure(dir string, names Names, clk clock.PassiveClock, first ...func(dir string) error) (*Garden, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	lock, err := LockDirectory(dir)
	if err != nil {
		return nil, err
	}
	if err := restoreFormer(dir); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	for _, prepare := range first {
		if err := prepare(dir); err != nil {
			return nil, errors.Join(err, lock.Release())
		}
	}
	domains, err := readDomains(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	m := materialIn(dir)
	m.certificates.names, m.certificates.started, m.certificates.domains = names.with(domains).subjectNames(), names, domains
	if err := m.ensure(clk.Now()); err != nil {
		return nil, errors.Join(err, lock.Release())
	}

	return newGarden(m, lock), nil
}

func newGarden(m *material, lock *Lock) *Garden {
	sharing := &Sharing{dir: m.dir, here: m}

	return &Garden{
		Dir: m.dir, Authorities: m.authorities, Certificates: m.certificates, Encryption: m.encryption,
		ServiceAccount: m.serviceAccount, WorkloadIdentity: m.workloadIdentity,
		Changes: Changes{sharing: sharing}, Sharing: sharing, lock: lock,
	}
}

// Close releases the data directory.
func (g *Garden) Close() error { return g.lock.Release() }

// AdminKubeconfigPath returns the path of the kubeconfig for administrators in the data directory dir.
func AdminKubeconfigPath(dir string) string { return filepath.Join(dir, adminKubeconfigFile) }

// ensurePKI creates the keys and authorities in a staging directory, and moves it into place by one rename. The layout file is
// written after that, so if it exists without the PKI, the PKI was lost.
func ensurePKI(dir string, used bool, now time.Time) error {
	if err := removeStaging(dir); err != nil {
		return err
	}
	pki := filepath.Join(dir, pkiDir)
	_, err := os.Stat(pki)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for keys and certificates: %w", err)
	case used:
		return &CorruptError{File: pki, Err: withoutPath(err), Remedy: remedyRestore}
	}
	staging, err := makeStaging(dir)
	if err != nil {
		return err
	}
	if err := makePKI(staging, now); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := os.Rename(staging, pki); err != nil {
		return errors.Join(fmt.Errorf("put keys and certificates into place: %w", err), os.RemoveAll(staging))
	}
	return syncDir(dir)
}

// removeStaging removes the staging directories of interrupted starts.
func removeStaging(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, pkiStagingDirPattern+"*"))
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, staging := range left {
		if err := os.RemoveAll(staging); err != nil {
			return fmt.Errorf("remove leftover: %w", err)
		}
	}
	return nil
}

func makePKI(dir string, now time.Time) error {
	for _, name := range authorities() {
		if err := makeAuthority(dir, name, authorityNamePrefix+name, now); err != nil {
			return err
		}
	}
	_, keyPEM, err := makeKey()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, serviceAccountFile), keyPEM); err != nil {
		return err
	}
	if err := makeWorkloadIdentityKey(dir); err != nil {
		return err
	}
	return makeEncryption(dir, now)
}
