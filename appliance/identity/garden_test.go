// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

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

func TestEnsureFirstStart(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	g := w.ensure(t, names())
	now := w.clk.Now()

	t.Run("Serving", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{
			"localhost", "127.0.0.1", "::1", "vm-1", "192.0.2.7", "2001:db8::7", "10.43.0.1", "garden.example.org",
			"203.0.113.9", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		} {
			if err := g.Certificates.Serving.Cert.VerifyHostname(name); err != nil {
				t.Errorf("Clients reach the server as %q: %v", name, err)
			}
		}
		verify(t, g.Authorities.Server, g.Certificates.Serving, x509.ExtKeyUsageServerAuth, now)
	})
	t.Run("Clients", func(t *testing.T) {
		t.Parallel()
		verify(t, g.Authorities.Client, g.Certificates.Admin, x509.ExtKeyUsageClientAuth, now)
		verify(t, g.Authorities.FrontProxy, g.Certificates.FrontProxy, x509.ExtKeyUsageClientAuth, now)
		if diff := cmp.Diff([]string{"system:masters"}, g.Certificates.Admin.Cert.Subject.Organization); diff != "" {
			t.Errorf("The administrator is in the group that may do everything.\norganization (-want +got):\n%s", diff)
		}
	})
	t.Run("AuthoritiesAreApart", func(t *testing.T) {
		t.Parallel()
		roots := x509.NewCertPool()
		roots.AddCert(g.Authorities.Server.Cert)
		if _, err := g.Certificates.Admin.Cert.Verify(x509.VerifyOptions{
			Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}); err == nil {
			t.Error("The authority of servers must not vouch for clients, but it does")
		}
	})
	t.Run("Lifetimes", func(t *testing.T) {
		t.Parallel()
		got := map[string]time.Duration{
			"authority": g.Authorities.Server.Cert.NotAfter.Sub(now), "leaf": g.Certificates.Serving.Cert.NotAfter.Sub(now),
		}
		want := map[string]time.Duration{"authority": 3650 * day, "leaf": 365 * day}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Authorities live ten years, what they sign lives one.\nlifetimes (-want +got):\n%s", diff)
		}
	})
	t.Run("Modes", func(t *testing.T) {
		t.Parallel()
		checkModes(t, w.dir)
	})
	t.Run("Encryption", func(t *testing.T) {
		t.Parallel()
		checkEncryption(t, g.Encryption.File)
	})
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

func checkEncryption(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion, Kind string
		Resources        []struct {
			Resources []string
			Providers []struct {
				Secretbox struct {
					Keys []struct{ Name, Secret string }
				}
			}
		}
	}
	if err := yaml.UnmarshalStrict(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "apiserver.config.k8s.io/v1" || got.Kind != "EncryptionConfiguration" {
		t.Errorf("The API server reads this kind of file only.\ntype = %s %s", got.APIVersion, got.Kind)
	}
	if diff := cmp.Diff([]string{"secrets", "internalsecrets.core.gardener.cloud", "shootstates.core.gardener.cloud"}, got.Resources[0].Resources); diff != "" {
		t.Errorf("Whatever holds credentials is encrypted.\nresources (-want +got):\n%s", diff)
	}
	key, err := base64.StdEncoding.DecodeString(got.Resources[0].Providers[0].Secretbox.Keys[0].Secret)
	if err != nil || len(key) != 32 {
		t.Errorf("The key of secretbox has 32 bytes.\nlength = %d, error = %v", len(key), err)
	}
}

func TestEnsureAgain(t *testing.T) {
	t.Parallel()

	type again struct{ authorities, serving, admin bool } // what is still the same
	cases := map[string]struct {
		reason string
		change func(t *testing.T, w world, n *identity.Names)
		want   again
	}{
		"Nothing": {
			reason: "A restart changes nothing.",
			change: func(*testing.T, world, *identity.Names) {},
			want:   again{authorities: true, serving: true, admin: true},
		},
		"SameNamesInOtherOrder": {
			reason: "The order in which addresses are found means nothing.",
			change: func(_ *testing.T, _ world, n *identity.Names) { slices.Reverse(n.Addresses) },
			want:   again{authorities: true, serving: true, admin: true},
		},
		"NewName": {
			reason: "A new address has to be in the serving certificate; clients keep trusting the CA.",
			change: func(_ *testing.T, _ world, n *identity.Names) { n.External = append(n.External, "new.example.org") },
			want:   again{authorities: true, admin: true},
		},
		"NameGone": {
			reason: "A certificate does not vouch for a name that the garden no longer has.",
			change: func(_ *testing.T, _ world, n *identity.Names) { n.External = nil },
			want:   again{authorities: true, admin: true},
		},
		"FarFromExpiry": {
			reason: "Before 70 % of their life have passed there is no reason to change certificates.",
			change: func(_ *testing.T, w world, _ *identity.Names) { w.clk.SetTime(w.clk.Now().Add(255 * day)) },
			want:   again{authorities: true, serving: true, admin: true},
		},
		"CloseToExpiry": {
			reason: "Certificates are renewed well before they end.",
			change: func(_ *testing.T, w world, _ *identity.Names) { w.clk.SetTime(w.clk.Now().Add(329 * day)) },
			want:   again{authorities: true},
		},
		"LongExpired": {
			reason: "A server that was off for years comes back.",
			change: func(_ *testing.T, w world, _ *identity.Names) { w.clk.SetTime(w.clk.Now().Add(1000 * day)) },
			want:   again{authorities: true},
		},
		"ServingRemoved": {
			reason: "Removing a certificate is the documented way to have it issued anew.",
			change: func(t *testing.T, w world, _ *identity.Names) {
				t.Helper()
				remove(t, w.path("pki", "serving.pem"))
			},
			want: again{authorities: true, admin: true},
		},
		"ServingOfAnotherCA": {
			reason: "A certificate that the CA did not sign is of no use to any client.",
			change: func(t *testing.T, w world, n *identity.Names) {
				t.Helper()
				other := newWorld(t)
				other.ensure(t, *n)
				write(t, w.path("pki", "serving.pem"), read(t, other.path("pki", "serving.pem")))
			},
			want: again{authorities: true, admin: true},
		},
		"CrashBeforeLayout": {
			reason: "A first start that ended between its last two steps is taken up, not begun again.",
			change: func(t *testing.T, w world, _ *identity.Names) {
				t.Helper()
				remove(t, w.path("layout"))
			},
			want: again{authorities: true, serving: true, admin: true},
		},
		"CrashWhileMaking": {
			reason: "What a first start has made only in part is thrown away.",
			change: func(t *testing.T, w world, _ *identity.Names) {
				t.Helper()
				remove(t, w.path("layout"))
				if err := os.Rename(w.path("pki"), w.path("pki.new-123")); err != nil {
					t.Fatal(err)
				}
				remove(t, w.path("pki.new-123", "client-ca.key"))
			},
		},
		"LooseModes": {
			reason: "Keys that others may read are closed again.",
			change: func(t *testing.T, w world, _ *identity.Names) {
				t.Helper()
				for _, file := range []string{"client-ca.key", "serving.pem", "service-account.key", "encryption.yaml"} {
					if err := os.Chmod(w.path("pki", file), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Chmod(w.dir, 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: again{authorities: true, serving: true, admin: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, n := newWorld(t), names()
			first := w.ensure(t, n)
			tc.change(t, w, &n)
			second := w.ensure(t, n)

			got := again{
				authorities: bytes.Equal(first.Authorities.Server.Bundle, second.Authorities.Server.Bundle) &&
					bytes.Equal(first.Authorities.Client.Bundle, second.Authorities.Client.Bundle) &&
					bytes.Equal(first.Authorities.FrontProxy.Bundle, second.Authorities.FrontProxy.Bundle),
				serving: bytes.Equal(first.Certificates.Serving.CertPEM, second.Certificates.Serving.CertPEM) &&
					bytes.Equal(first.Certificates.Serving.KeyPEM, second.Certificates.Serving.KeyPEM),
				admin: bytes.Equal(first.Certificates.Admin.CertPEM, second.Certificates.Admin.CertPEM),
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(again{})); diff != "" {
				t.Errorf("%s\nkept over a restart (-want +got):\n%s", tc.reason, diff)
			}
			for _, host := range n.External {
				if err := second.Certificates.Serving.Cert.VerifyHostname(host); err != nil {
					t.Errorf("%s\nserving certificate for %q: %v", tc.reason, host, err)
				}
			}
			verify(t, second.Authorities.Server, second.Certificates.Serving, x509.ExtKeyUsageServerAuth, w.clk.Now())
			checkModes(t, w.dir)
			if left, _ := filepath.Glob(w.path("pki.new-*")); len(left) > 0 {
				t.Errorf("%s\nleft behind: %v", tc.reason, left)
			}
		})
	}
}

func TestEnsureCorrupt(t *testing.T) {
	t.Parallel()

	encryption := func(resources, providers string) string {
		return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [" +
			resources + "]\n  providers: " + providers + "\n"
	}
	const both = "secrets, internalsecrets.core.gardener.cloud"
	cases := map[string]struct {
		reason string
		file   string
		change func(t *testing.T, w world, path string)
		remedy string
	}{
		"CACertGarbage": {
			reason: "A CA that cannot be read is not replaced, because every client pins it.",
			file:   "pki/server-ca.crt", change: overwrite("garbage"), remedy: "restore it from a backup",
		},
		"CACertMissing": {
			reason: "A CA that is gone is not replaced either.",
			file:   "pki/client-ca.crt", change: func(t *testing.T, _ world, path string) { t.Helper(); remove(t, path) },
			remedy: "restore it from a backup",
		},
		"CAKeyTruncated": {
			reason: "Half a key is no key.",
			file:   "pki/client-ca.key", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) {
				t.Helper()
				data := read(t, path)
				write(t, path, data[:len(data)/2])
			},
		},
		"CAKeyOfAnother": {
			reason: "A key that does not belong to the certificate would sign what nobody trusts.",
			file:   "pki/server-ca.key", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "client-ca.key")))
			},
		},
		"CANoAuthority": {
			reason: "A certificate of a server cannot sign.",
			file:   "pki/server-ca.crt", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "serving.pem")))
			},
		},
		"CAExpired": {
			reason: "After ten years the operator has to act.",
			file:   "pki/server-ca.crt", remedy: "restore it from a backup",
			change: func(_ *testing.T, w world, _ string) { w.clk.SetTime(w.clk.Now().Add(3651 * day)) },
		},
		"LeafGarbage": {
			reason: "A broken certificate is a sign of a broken disk; the way out is said.",
			file:   "pki/serving.pem", change: overwrite("garbage"), remedy: "remove the file and restart",
		},
		"LeafKeyOfAnother": {
			reason: "A certificate and a key that do not belong together serve nobody.",
			file:   "pki/admin.pem", remedy: "remove the file and restart",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				cert, _, _ := bytes.Cut(read(t, path), []byte("-----BEGIN EC"))
				write(t, path, slices.Concat(cert, read(t, w.path("pki", "service-account.key"))))
			},
		},
		"ServiceAccountKey": {
			reason: "With another key every service account token would be worthless.",
			file:   "pki/service-account.key", change: overwrite("garbage"), remedy: "restore it from a backup",
		},
		"EncryptionNoYAML": {
			reason: "A file that cannot be read must not be replaced by a new key.",
			file:   "pki/encryption.yaml", change: overwrite("\t:"), remedy: "restore it from a backup",
		},
		"EncryptionOtherKind": {
			reason: "Another file in its place is not it.",
			file:   "pki/encryption.yaml", change: overwrite("apiVersion: v1\nkind: Secret\n"), remedy: "restore it",
		},
		"EncryptionIdentityFirst": {
			reason: "Secrets are never written in the clear.",
			file:   "pki/encryption.yaml", change: overwrite(encryption(both, "[{identity: {}}]")), remedy: "restore it",
		},
		"EncryptionOneResourceOnly": {
			reason: "InternalSecrets hold the keys of CAs.",
			file:   "pki/encryption.yaml", remedy: "restore it",
			change: overwrite(encryption("secrets", "[{secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}]}}]")),
		},
		"EncryptionShortKey": {
			reason: "A key of the wrong size would be refused much later, by the API server.",
			file:   "pki/encryption.yaml", change: overwrite(encryption(both, "[{secretbox: {keys: [{name: a, secret: MDEyMw==}]}}]")),
			remedy: "restore it",
		},
		"EncryptionUnknownField": {
			reason: "A slip of the pen in a field's name must not turn encryption off.",
			file:   "pki/encryption.yaml", remedy: "restore it",
			change: overwrite(encryption(both, "[{secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}], key: []}}]")),
		},
		"WorkloadIdentityKeyGone": {
			reason: "Other systems trust the key; a new one would lock every workload out of them.",
			file:   "pki/workload-identity.key", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) { t.Helper(); remove(t, path) },
		},
		"WorkloadIdentityKeyOfAnotherSort": {
			reason: "Tokens are signed with RSA, because every verifier knows that.",
			file:   "pki/workload-identity.key", remedy: "restore it from a backup",
			change: func(t *testing.T, w world, path string) {
				t.Helper()
				write(t, path, read(t, w.path("pki", "service-account.key")))
			},
		},
		"PKIGone": {
			reason: "Where a garden has lived, a new identity would lock everybody out of it.",
			file:   "pki", remedy: "restore it from a backup",
			change: func(t *testing.T, _ world, path string) {
				t.Helper()
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			},
		},
		"Layout": {
			reason: "Without the layout's version nobody knows how to read the rest.",
			file:   "layout", change: overwrite("first\n"), remedy: "restore it from a backup",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ensure(t, names())
			path := w.path(tc.file)
			tc.change(t, w, path)
			before := tree(t, w.dir)

			_, err := identity.Ensure(w.dir, names(), w.clk)

			corrupt, ok := errors.AsType[*identity.CorruptError](err)
			if !ok || corrupt.File != path {
				t.Fatalf("%s\nEnsure(...) = %v, want a CorruptError of %q", tc.reason, err, path)
			}
			for _, want := range []string{path, tc.remedy} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nEnsure(...) = %q, want it to contain %q", tc.reason, err, want)
				}
			}
			if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
				t.Errorf("%s\nA refused start changes nothing (-before +after):\n%s", tc.reason, diff)
			}
			if lock, err := identity.LockDirectory(w.dir); err != nil {
				t.Errorf("A failed start must not keep the directory: %v", err)
			} else if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEnsureKeepsOperatorsEncryptionKeys(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.ensure(t, names())
	path := w.path("pki", "encryption.yaml")
	const rotated = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, internalsecrets.core.gardener.cloud, shootstates.core.gardener.cloud]
  providers:
  - aesgcm: {keys: [{name: b, secret: MDEyMzQ1Njc4OTAxMjM0NQ==}]}
  - secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=}]}
  - identity: {}
`
	write(t, path, []byte(rotated))
	w.ensure(t, names())
	if diff := cmp.Diff(rotated, string(read(t, path))); diff != "" {
		t.Errorf("An operator may rotate keys by hand.\nfile (-want +got):\n%s", diff)
	}
}

func TestGrowEncryptsWhatIsNew(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.ensure(t, names())
	path := w.path("pki", "encryption.yaml")
	const was = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- providers:
  - secretbox:
      keys:
      - name: a
        secret: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=
  resources:
  - secrets
  - internalsecrets.core.gardener.cloud
`
	write(t, path, []byte(was))
	g := w.ensure(t, names())
	if diff := cmp.Diff(was, string(read(t, path))); diff != "" {
		t.Errorf("A start changes nothing that servers share.\nfile (-want +got):\n%s", diff)
	}
	if err := g.Encryption.EncryptsAll(); err == nil {
		t.Error("What would be stored as it is, is told.\nEncryptsAll(): got no error")
	}
	if err := errors.Join(g.Sharing.Grow(), g.Encryption.EncryptsAll()); err != nil {
		t.Errorf("Grow(), EncryptsAll(): got %v", err)
	}
	if diff := cmp.Diff(was+"  - shootstates.core.gardener.cloud\n", string(read(t, path))); diff != "" {
		t.Errorf("A garden from before there were ShootStates encrypts them with the keys that it has.\nfile (-want +got):\n%s", diff)
	}
}

func TestLocalNames(t *testing.T) {
	t.Parallel()

	n, err := identity.LocalNames()
	if err != nil {
		t.Fatalf("LocalNames() = %v", err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if n.Host != host {
		t.Errorf("LocalNames().Host = %q, want %q", n.Host, host)
	}
	if !slices.Contains(n.Addresses, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("Every machine has a loopback address.\nLocalNames().Addresses = %v", n.Addresses)
	}
	for _, a := range n.Addresses {
		if a.Is6() && a.IsLinkLocalUnicast() {
			t.Errorf("A link-local address needs the name of an interface.\nLocalNames().Addresses = %v", n.Addresses)
		}
	}
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
