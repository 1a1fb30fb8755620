// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

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
