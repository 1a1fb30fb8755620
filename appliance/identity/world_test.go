// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto/x509"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const day = 24 * time.Hour

func names() identity.Names {
	return identity.Names{
		Host:      "vm-1",
		Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")},
		Service:   netip.MustParseAddr("10.43.0.1"),
		External:  []string{"garden.example.org", "203.0.113.9", "localhost"},
	}
}

// world is a data directory and a clock.
type world struct {
	dir string
	clk *clocktesting.FakePassiveClock
}

func newWorld(t *testing.T) world {
	t.Helper()
	return world{
		dir: filepath.Join(t.TempDir(), "data"),
		clk: clocktesting.NewFakePassiveClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)),
	}
}

func (w world) path(elem ...string) string { return filepath.Join(append([]string{w.dir}, elem...)...) }

// ensure starts and ends one use of the directory.
func (w world) ensure(t *testing.T, n identity.Names) *identity.Garden {
	t.Helper()
	g, err := identity.Ensure(w.dir, n, w.clk)
	if err != nil {
		t.Fatalf("Ensure(...) = %v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
	return g
}

func overwrite(text string) func(*testing.T, world, string) {
	return func(t *testing.T, _ world, path string) {
		t.Helper()
		write(t, path, []byte(text))
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// tree maps the files below dir to their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[path] = string(read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func verify(t *testing.T, ca identity.Authority, pair identity.KeyPair, usage x509.ExtKeyUsage, now time.Time) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Bundle)
	_, err := pair.Cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	if err != nil {
		t.Errorf("%q is signed by %q for its use: %v", pair.Cert.Subject, ca.Cert.Subject, err)
	}
	if _, err := x509.ParseCertificate(pair.Cert.Raw); err != nil {
		t.Errorf("parse %q: %v", pair.Cert.Subject, err)
	}
}

func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("Nobody but the owner reads what is in the data directory.\nmode of %q = %#o, want %#o", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
