// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/pki"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func server() pki.Certificate {
	return pki.Certificate{
		Name: "server", Subject: pkix.Name{CommonName: "server", Organization: []string{"group"}},
		Hosts: []string{"server.example"}, Addresses: []netip.Addr{netip.MustParseAddr("10.99.0.1")},
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func authority(t *testing.T, folder pki.Folder) pki.Pair {
	t.Helper()
	ca, err := folder.EnsureAuthority("ca", "test:ca")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func ensure(t *testing.T, folder pki.Folder, ca pki.Pair) pki.Pair {
	t.Helper()
	pair, err := folder.Ensure(server(), ca)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestCertificateIsTrusted(t *testing.T) {
	t.Parallel()
	folder := pki.Folder{Dir: t.TempDir(), Now: start()}
	ca := authority(t, folder)
	pair := ensure(t, folder, ca)
	roots := x509.NewCertPool()
	roots.AddCert(ca.Certificate)
	for name, tc := range map[string]struct {
		reason string
		host   string
		usage  x509.ExtKeyUsage
		at     time.Time
		fails  bool
	}{
		"name":            {reason: "A client knows the server by its name.", host: "server.example", usage: x509.ExtKeyUsageServerAuth, at: start()},
		"address":         {reason: "A client knows the server by its address.", host: "10.99.0.1", usage: x509.ExtKeyUsageServerAuth, at: start()},
		"slow clock":      {reason: "The clock of the client may be a little behind.", host: "10.99.0.1", usage: x509.ExtKeyUsageServerAuth, at: start().Add(-4 * time.Minute)},
		"another name":    {reason: "The certificate is not valid for other names.", host: "other.example", usage: x509.ExtKeyUsageServerAuth, at: start(), fails: true},
		"another purpose": {reason: "A server certificate is not valid for clients.", host: "server.example", usage: x509.ExtKeyUsageClientAuth, at: start(), fails: true},
		"after its end":   {reason: "It ends after a year.", host: "server.example", usage: x509.ExtKeyUsageServerAuth, at: start().Add(366 * 24 * time.Hour), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pair.Certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.usage}, CurrentTime: tc.at})
			if (err != nil) != tc.fails {
				t.Errorf("%s\nVerify() = %v", tc.reason, err)
			}
		})
	}
	if diff := cmp.Diff([]string{"group"}, pair.Certificate.Subject.Organization); diff != "" {
		t.Errorf("The subject is as wanted (-want +got):\n%s", diff)
	}
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := pki.Folder{Dir: dir, Now: start()}
	ca := authority(t, first)
	pair := ensure(t, first, ca)
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration
		stays  bool
	}{
		"soon":       {reason: "Making it again changes nothing.", after: time.Hour, stays: true},
		"in time":    {reason: "It is good for more than a month.", after: 334 * 24 * time.Hour, stays: true},
		"near end":   {reason: "What ends within a month is replaced.", after: 336 * 24 * time.Hour},
		"long after": {reason: "What has ended is replaced.", after: 700 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			later := pki.Folder{Dir: copied, Now: start().Add(tc.after)}
			sameCA := authority(t, later)
			if !sameCA.Certificate.Equal(ca.Certificate) {
				t.Errorf("The authority lasts ten years")
			}
			if got := ensure(t, later, sameCA).Certificate.Equal(pair.Certificate); got != tc.stays {
				t.Errorf("%s\nThe certificate stayed: %t", tc.reason, got)
			}
		})
	}
}

func TestEnsureReplacesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		damage func(t *testing.T, dir string)
	}{
		"other authority": {
			reason: "A certificate of a former authority is not trusted.",
			damage: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.Remove(filepath.Join(dir, "ca.crt")); err != nil {
					t.Fatal(err)
				}
			},
		},
		"half replaced": {
			reason: "A crash may have left a new key beside the old certificate.",
			damage: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.Rename(filepath.Join(dir, "ca.key.copy"), filepath.Join(dir, "server.key")); err != nil {
					t.Fatal(err)
				}
			},
		},
		"half made": {
			reason: "A crash may have left a key without a certificate.",
			damage: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.Remove(filepath.Join(dir, "server.crt")); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := pki.Folder{Dir: t.TempDir(), Now: start()}
			before := ensure(t, folder, authority(t, folder))
			key, err := os.ReadFile(filepath.Join(folder.Dir, "ca.key"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder.Dir, "ca.key.copy"), key, 0o600); err != nil {
				t.Fatal(err)
			}
			tc.damage(t, folder.Dir)

			ca := authority(t, folder)
			after := ensure(t, folder, ca)
			if after.Certificate.Equal(before.Certificate) {
				t.Errorf("%s\nThe certificate stayed", tc.reason)
			}
			if err := after.Certificate.CheckSignatureFrom(ca.Certificate); err != nil {
				t.Errorf("%s\nThe new one is not of the authority: %v", tc.reason, err)
			}
			if public, ok := after.Key.Public().(*ecdsa.PublicKey); !ok || !public.Equal(after.Certificate.PublicKey) {
				t.Errorf("%s\nKey and certificate do not belong together", tc.reason)
			}
		})
	}
}

func TestEnsureReplacesBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"server.crt", "server.key", "ca.crt", "ca.key", "tokens.key"} {
		for _, content := range []string{"", "scribble", "-----BEGIN CERTIFICATE-----\naGFsZg==\n-----END CERTIFICATE-----\n"} {
			folder := pki.Folder{Dir: t.TempDir(), Now: start()}
			ensure(t, folder, authority(t, folder))
			if err := os.WriteFile(filepath.Join(folder.Dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			ca := authority(t, folder)
			if err := ensure(t, folder, ca).Certificate.CheckSignatureFrom(ca.Certificate); err != nil {
				t.Errorf("What a power failure has destroyed in %s is made again: %v", file, err)
			}
			if err := folder.EnsureKey("tokens"); err != nil || !isKey(t, filepath.Join(folder.Dir, "tokens.key")) {
				t.Errorf("What a power failure has destroyed in %s is made again: %v", file, err)
			}
		}
	}
}

func isKey(t *testing.T, file string) bool {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return false
	}
	_, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	return err == nil
}

func TestEnsureKey(t *testing.T) {
	t.Parallel()
	folder := pki.Folder{Dir: t.TempDir(), Now: start()}
	contents := [2]string{}
	for i := range contents {
		if err := folder.EnsureKey("tokens"); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(folder.Dir, "tokens.key"))
		if err != nil {
			t.Fatal(err)
		}
		contents[i] = string(content)
	}
	if contents[0] != contents[1] {
		t.Errorf("A key that is there stays: tokens signed with it are about")
	}
	public, err := os.ReadFile(filepath.Join(folder.Dir, "tokens.pub"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(public)
	if _, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil {
		t.Errorf("The public half is in the usual form: %v", err)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	folder := pki.Folder{Dir: t.TempDir(), Now: start()}
	ensure(t, folder, authority(t, folder))
	if err := folder.EnsureKey("tokens"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]fs.FileMode{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = info.Mode().Perm()
	}
	want := map[string]fs.FileMode{
		"ca.crt": 0o644, "ca.key": 0o600, "server.crt": 0o644, "server.key": 0o600, "tokens.key": 0o600, "tokens.pub": 0o644,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Only the owner can read keys, and no partial file is left (-want +got):\n%s", diff)
	}
}
