// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
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
