// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
)

const (
	servingFile    = "serving.pem"
	adminFile      = "admin.pem"
	frontProxyFile = "front-proxy-client.pem"

	// A certificate is renewed when between renewFrom and renewFrom+renewSpread of its life have passed.
	renewFrom   = 0.7
	renewSpread = 0.2
)

// ErrNoGarden says that a directory is not the data directory of a garden.
var ErrNoGarden = errors.New("it is not the data directory of a garden")

// renewalDue returns when a certificate is renewed: at 70 to 90 % of its life, spread so that the certificates that were issued
// together are not renewed together. The moment depends on the certificate alone, so a restart does not move it.
func renewalDue(c *x509.Certificate) time.Time {
	sum := sha256.Sum256(c.Raw)
	spread := float64(binary.BigEndian.Uint32(sum[:4])) / math.MaxUint32
	life := float64(c.NotAfter.Sub(c.NotBefore))

	return c.NotBefore.Add(time.Duration(life * (renewFrom + renewSpread*spread)))
}

// Certificates are those that a garden issues to itself, and their renewal.
type Certificates struct {
	// Serving is the serving certificate of the API server. Renew replaces it and the two below: while it may run, only their files
	// may be used, which never change their paths, and AdminAccess and List.
	Serving KeyPair
	// Admin is a client certificate of AdminName in AdminGroup.
	Admin KeyPair
	// FrontProxy is the client certificate of the aggregation layer.
	FrontProxy KeyPair

	// dir is the data directory.
	dir         string
	authorities *Authorities
	// mu guards the certificates, their names and the kubeconfig with one of them. It is that of the authorities.
	mu *sync.RWMutex
	// names are those of the serving certificate: started are those that the start was given, domains those that SetDomains was.
	names   subjectNames
	started Names
	domains []string
}

// issued is a certificate that the garden issues to itself: what it says, who signs it and where it is kept.
type issued struct {
	leaf leaf
	ca   *Authority
	pair *KeyPair
}

// issues lists the certificates that the garden issues to itself.
func (c *Certificates) issues() []issued {
	return []issued{
		{leaf{
			file: servingFile, subject: pkix.Name{CommonName: servingCommonName}, usage: x509.ExtKeyUsageServerAuth, names: c.names,
		}, &c.authorities.Server, &c.Serving},
		{leaf{
			file: adminFile, subject: pkix.Name{CommonName: AdminName, Organization: []string{AdminGroup}}, usage: x509.ExtKeyUsageClientAuth,
		}, &c.authorities.Client, &c.Admin},
		{leaf{
			file: frontProxyFile, subject: pkix.Name{CommonName: FrontProxyName}, usage: x509.ExtKeyUsageClientAuth,
		}, &c.authorities.FrontProxy, &c.FrontProxy},
	}
}

// issue renews the certificates that are due or do not fit, or all. It returns the names of the new ones.
func (c *Certificates) issue(now time.Time, all bool) ([]string, error) {
	pki := filepath.Join(c.dir, pkiDir)
	var renewed []string
	for _, of := range c.issues() {
		ensure := ensureLeaf
		if all {
			ensure = func(dir string, ca Authority, l leaf, now time.Time) (KeyPair, error) {
				return issueLeaf(filepath.Join(dir, l.file), ca, l, now)
			}
		}
		pair, err := ensure(pki, *of.ca, of.leaf, now)
		if err != nil {
			return renewed, err
		}
		if of.pair.Cert == nil || !of.pair.Cert.Equal(pair.Cert) {
			renewed = append(renewed, leafName(of.leaf.file))
		}
		*of.pair = pair
	}

	return renewed, nil
}

// Renew renews the certificates that are due, or all, and returns the names of the new ones. What was issued before stays valid
// until it expires. It may be called while the garden runs: the API server takes up new files without closing connections.
func (c *Certificates) Renew(now time.Time, all bool) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.issue(now, all)
}

// RenewalDue returns when the next certificate is due.
func (c *Certificates) RenewalDue() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var next time.Time
	for _, of := range c.issues() {
		if due := renewalDue(of.pair.Cert); next.IsZero() || due.Before(next) {
			next = due
		}
	}

	return next
}

// RenewDirectory renews all certificates in the data directory of a garden that does not run, and its administrator's
// kubeconfig. It returns their names. The error wraps ErrInUse if the garden runs.
func RenewDirectory(dir string, clk clock.PassiveClock) (renewed []string, err error) {
	if version, err := readLayout(dir); err != nil {
		return nil, err
	} else if version == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoGarden, dir)
	}
	lock, err := LockDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	m := materialIn(dir)
	if err := m.load(clk.Now()); err != nil {
		return nil, err
	}
	// The certificate keeps its names: only a start knows the garden's addresses.
	current, err := readPair(filepath.Join(dir, pkiDir, servingFile))
	if err != nil {
		return nil, &CorruptError{File: filepath.Join(dir, pkiDir, servingFile), Err: withoutPath(err), Remedy: remedyReissue}
	}
	m.certificates.names = namesOf(current.Cert)
	if renewed, err = m.certificates.issue(clk.Now(), true); err != nil {
		return renewed, err
	}
	config, err := clientcmd.LoadFromFile(AdminKubeconfigPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return renewed, nil
	}
	if err != nil {
		return renewed, fmt.Errorf("read kubeconfig: %w", err)
	}
	for _, c := range config.Clusters {
		return renewed, m.certificates.WriteAdminKubeconfig(c.Server)
	}

	return renewed, nil
}

func readPair(path string) (KeyPair, error) {
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return KeyPair{}, err
	}

	return parseKeyPair(path, data)
}

// leafName is the name of a certificate, by its file.
func leafName(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }
