// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
)

const (
	// AdminName is the user name of the administrator whose certificate Ensure issues. It is in the group AdminGroup.
	AdminName = "admin"
	// AdminGroup may do everything.
	AdminGroup = "system:masters"
	// FrontProxyName is the only name in whose client certificate the aggregation layer's headers are believed.
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

// SigningKey signs service account tokens.
type SigningKey struct {
	// File holds the private key.
	File string
	// Key is the private key.
	Key crypto.Signer
}

// Garden is the identity of one garden, complete and checked. Only Ensure makes one.
type Garden struct {
	// Dir is the data directory.
	Dir string
	// ServerCA signs the serving certificate.
	ServerCA Authority
	// ClientCA signs client certificates: the administrator's, and those asked for by certificate signing requests.
	ClientCA Authority
	// FrontProxyCA signs the certificate by which the aggregation layer speaks for users.
	FrontProxyCA Authority
	// Serving is what the API server shows to its clients.
	Serving KeyPair
	// Admin is a client certificate of AdminName in AdminGroup.
	Admin KeyPair
	// FrontProxy is the client certificate of the aggregation layer.
	FrontProxy KeyPair
	// ServiceAccount signs service account tokens.
	ServiceAccount SigningKey
	// WorkloadIdentity signs tokens of workload identities.
	WorkloadIdentity WorkloadIdentityKey
	// EncryptionFile is the API server's EncryptionConfiguration for Secrets and InternalSecrets.
	EncryptionFile string

	lock *Lock
}

// Ensure claims the data directory for this process, makes the identity of a garden on the first start, and on later
// ones reads it and renews what is about to expire or no longer carries the names. The caller closes the result when
// nothing uses the directory any more.
func Ensure(dir string, names Names, clk clock.PassiveClock) (*Garden, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	lock, err := LockDirectory(dir)
	if err != nil {
		return nil, err
	}
	g := &Garden{Dir: dir, lock: lock}
	if err := g.ensure(names, clk.Now()); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return g, nil
}

// Close gives the data directory back.
func (g *Garden) Close() error { return g.lock.Release() }

// CABundle is what the garden publishes at /cacerts, byte by byte.
func (g *Garden) CABundle() []byte { return g.ServerCA.Bundle }

// CAHash is what join tokens pin.
func (g *Garden) CAHash() string { return HashCA(g.CABundle()) }

// HashCA returns the hash of a CA bundle as it is served, in the form that join tokens carry.
func HashCA(bundle []byte) string {
	sum := sha256.Sum256(bundle)
	return hex.EncodeToString(sum[:])
}

// AdminKubeconfigPath is where the server of the data directory dir leaves a kubeconfig for administrators.
func AdminKubeconfigPath(dir string) string { return filepath.Join(dir, adminKubeconfigFile) }

func (g *Garden) ensure(names Names, now time.Time) error {
	version, err := readLayout(g.Dir)
	if err != nil {
		return err
	}
	if err := g.ensurePKI(version > 0, now); err != nil {
		return err
	}
	if err := g.load(now); err != nil {
		return err
	}
	if g.WorkloadIdentity, err = loadWorkloadIdentityKey(filepath.Join(g.Dir, pkiDir), version); err != nil {
		return err
	}
	if err := g.issue(names, now); err != nil {
		return err
	}
	if version == Layout {
		return nil
	}
	return writeLayout(g.Dir)
}

// ensurePKI makes what cannot be made twice, aside, and puts it into place by one rename. The layout file is written
// after that, so where it is but the PKI is not, the PKI was lost.
func (g *Garden) ensurePKI(used bool, now time.Time) error {
	if err := g.removeStaging(); err != nil {
		return err
	}
	pki := filepath.Join(g.Dir, pkiDir)
	_, err := os.Stat(pki)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for keys and certificates: %w", err)
	case used:
		return &CorruptError{File: pki, Err: withoutPath(err), Remedy: remedyRestore}
	}
	staging, err := os.MkdirTemp(g.Dir, pkiStagingDirPattern)
	if err != nil {
		return directoryError(g.Dir, err)
	}
	if err := makePKI(staging, now); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := os.Rename(staging, pki); err != nil {
		return errors.Join(fmt.Errorf("put keys and certificates into place: %w", err), os.RemoveAll(staging))
	}
	return syncDir(g.Dir)
}

// removeStaging takes away what a start that was interrupted has left.
func (g *Garden) removeStaging() error {
	left, err := filepath.Glob(filepath.Join(g.Dir, pkiStagingDirPattern+"*"))
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove leftover: %w", err)
		}
	}
	return nil
}

func makePKI(dir string, now time.Time) error {
	for _, a := range []struct{ file, commonName string }{
		{file: serverAuthority, commonName: "terrarium-server-ca"},
		{file: clientAuthority, commonName: "terrarium-client-ca"},
		{file: frontProxyAuthority, commonName: "terrarium-front-proxy-ca"},
	} {
		if err := makeAuthority(dir, a.file, a.commonName, now); err != nil {
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

// load reads and checks what cannot be made twice.
func (g *Garden) load(now time.Time) error {
	pki := filepath.Join(g.Dir, pkiDir)
	var err error
	if g.ServerCA, err = loadAuthority(pki, serverAuthority, now); err != nil {
		return err
	}
	if g.ClientCA, err = loadAuthority(pki, clientAuthority, now); err != nil {
		return err
	}
	if g.FrontProxyCA, err = loadAuthority(pki, frontProxyAuthority, now); err != nil {
		return err
	}
	if g.EncryptionFile, err = checkEncryption(pki); err != nil {
		return err
	}
	g.ServiceAccount.File = filepath.Join(pki, serviceAccountFile)
	keyPEM, err := readPrivate(g.ServiceAccount.File)
	if err != nil {
		return &CorruptError{File: g.ServiceAccount.File, Err: withoutPath(err), Remedy: remedyRestore}
	}
	if g.ServiceAccount.Key, err = parseKey(keyPEM); err != nil {
		return &CorruptError{File: g.ServiceAccount.File, Err: err, Remedy: remedyRestore}
	}
	return nil
}

// issue brings the certificates up to date that the authorities can issue again.
func (g *Garden) issue(names Names, now time.Time) error {
	pki := filepath.Join(g.Dir, pkiDir)
	var err error
	if g.Serving, err = ensureLeaf(pki, g.ServerCA, leaf{
		file:    "serving.pem",
		subject: pkix.Name{CommonName: servingCommonName},
		usage:   x509.ExtKeyUsageServerAuth,
		names:   names.subjectNames(),
	}, now); err != nil {
		return err
	}
	if g.Admin, err = ensureLeaf(pki, g.ClientCA, leaf{
		file:    "admin.pem",
		subject: pkix.Name{CommonName: AdminName, Organization: []string{AdminGroup}},
		usage:   x509.ExtKeyUsageClientAuth,
	}, now); err != nil {
		return err
	}
	g.FrontProxy, err = ensureLeaf(pki, g.FrontProxyCA, leaf{
		file:    "front-proxy-client.pem",
		subject: pkix.Name{CommonName: FrontProxyName},
		usage:   x509.ExtKeyUsageClientAuth,
	}, now)
	return err
}
