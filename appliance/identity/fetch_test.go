// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// newGarden makes an identity that is valid now, since the certificates are shown to a real TLS client.
func newGarden(t *testing.T, n identity.Names) *identity.Garden {
	t.Helper()
	g, err := identity.Ensure(newWorld(t).dir, n, clock.RealClock{})
	if err != nil {
		t.Fatalf("Ensure(...) = %v", err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// serve answers with the certificate of pair.
func serve(t *testing.T, pair identity.KeyPair, handler http.HandlerFunc) string {
	t.Helper()
	return serveAt(t, "127.0.0.1", pair, handler)
}

func serveAt(t *testing.T, address string, pair identity.KeyPair, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address+":0")
	if err != nil {
		t.Skipf("this system has no address %s: %v", address, err)
	}
	cert, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(handler)
	if err := s.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	s.Listener = listener
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func publish(bundle []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/cacerts" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(bundle)
	}
}

func TestFetchCA(t *testing.T) {
	t.Parallel()

	garden, other := newGarden(t, names()), newGarden(t, names())
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()

	cases := map[string]struct {
		reason string
		server string
		hash   string
		want   []byte
		is     error
		says   []string
	}{
		"Right": {
			reason: "The garden proves that the pinned CA is its own.",
			server: serve(t, garden.Certificates.Serving, publish(garden.Authorities.CABundle())),
			hash:   garden.Authorities.CAHash(),
			want:   garden.Authorities.CABundle(),
		},
		"SlashAtTheEnd": {
			reason: "An address may end in a slash.",
			server: serve(t, garden.Certificates.Serving, publish(garden.Authorities.CABundle())) + "/",
			hash:   garden.Authorities.CAHash(),
			want:   garden.Authorities.CABundle(),
		},
		"WrongHash": {
			reason: "A token of another garden does not open this one, and both hashes are said.",
			server: serve(t, other.Certificates.Serving, publish(other.Authorities.CABundle())),
			hash:   garden.Authorities.CAHash(),
			is:     identity.ErrCAMismatch,
			says:   []string{garden.Authorities.CAHash(), other.Authorities.CAHash(), "the connection is intercepted"},
		},
		"Changing": {
			reason: "While the garden changes its authorities, a token from before is good for the one that it names, and for no other.",
			server: serve(t, garden.Certificates.Serving, publish(append(slices.Clone(garden.Authorities.CABundle()), other.Authorities.CABundle()...))),
			hash:   garden.Authorities.CAHash(),
			want:   garden.Authorities.CABundle(),
		},
		"Added": {
			reason: "Who adds an authority to the public one has not signed with that.",
			server: serve(t, other.Certificates.Serving, publish(append(slices.Clone(garden.Authorities.CABundle()), other.Authorities.CABundle()...))),
			hash:   garden.Authorities.CAHash(),
			is:     identity.ErrServerCertificate,
			says:   []string{"unknown authority"},
		},
		"Changed": {
			reason: "A token that names both authorities says what to do when one of them is forgotten.",
			server: serve(t, other.Certificates.Serving, publish(other.Authorities.CABundle())),
			hash:   identity.HashCA(append(slices.Clone(garden.Authorities.CABundle()), other.Authorities.CABundle()...)),
			is:     identity.ErrCAMismatch,
			says:   []string{"changed its certificate authorities", "terrarium token create"},
		},
		"OtherCertificate": {
			reason: "Who only repeats the public CA does not have its key.",
			server: serve(t, other.Certificates.Serving, publish(garden.Authorities.CABundle())),
			hash:   garden.Authorities.CAHash(),
			is:     identity.ErrServerCertificate,
			says:   []string{"unknown authority"},
		},
		"OtherUse": {
			reason: "A client certificate is no proof of being the server, even from the right CA.",
			server: serve(t, garden.Certificates.Admin, publish(garden.Authorities.Client.Bundle)),
			hash:   identity.HashCA(garden.Authorities.Client.Bundle),
			is:     identity.ErrServerCertificate,
		},
		"Unpinned": {
			reason: "Without a hash nothing is fetched.",
			server: serve(t, garden.Certificates.Serving, publish(garden.Authorities.CABundle())),
			is:     identity.ErrUnpinned,
		},
		"NoGarden": {
			reason: "Another web server does not know the path.",
			server: serve(t, garden.Certificates.Serving, http.NotFound),
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{"404 Not Found", "check that this is the address of a garden"},
		},
		"Redirect": {
			reason: "The pinned server answers itself.",
			server: serve(t, garden.Certificates.Serving, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://example.org/", http.StatusFound)
			}),
			hash: garden.Authorities.CAHash(),
			is:   cmpopts.AnyError,
			says: []string{"302 Found"},
		},
		"NoCertificates": {
			reason: "A login page is no CA.",
			server: serve(t, garden.Certificates.Serving, publish([]byte("<html>"))),
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{"does not contain a certificate"},
		},
		"TooLong": {
			reason: "An answer without end must not fill the memory.",
			server: serve(t, garden.Certificates.Serving, publish(bytes.Repeat([]byte("x"), 1<<20+1))),
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{"more than 1048576 bytes"},
		},
		"PlainText": {
			reason: "A token is never worth anything without TLS.",
			server: "http://garden.example.org:6443",
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{`"http://garden.example.org:6443" is not of the form https://host:port`},
		},
		"NoScheme": {
			reason: "A host alone is not an address.",
			server: "garden.example.org",
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{"is not of the form https://host:port"},
		},
		"NobodyThere": {
			reason: "A refused connection names the server.",
			server: "https://" + strings.TrimPrefix(nobody.URL, "http://"),
			hash:   garden.Authorities.CAHash(),
			is:     cmpopts.AnyError,
			says:   []string{"connection refused", strings.TrimPrefix(nobody.URL, "http://")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := identity.FetchCA(t.Context(), tc.server, tc.hash)
			if diff := cmp.Diff(tc.is, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nFetchCA(...) error (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nFetchCA(...) (-want +got):\n%s", tc.reason, diff)
			}
			for _, want := range tc.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nFetchCA(...) = %v, want it to contain %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestFetchCANameMissing(t *testing.T) {
	t.Parallel()

	// The second loopback address is in no certificate unless it is asked for.
	const address = "127.0.0.2"
	garden := newGarden(t, identity.Names{})
	url := serveAt(t, address, garden.Certificates.Serving, publish(garden.Authorities.CABundle()))
	_, err := identity.FetchCA(t.Context(), url, garden.Authorities.CAHash())
	if diff := cmp.Diff(identity.ErrServerCertificate, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("The certificate has to carry the address that was called.\nFetchCA(...) error (-want +got):\n%s", diff)
	}

	named := newGarden(t, identity.Names{Addresses: []netip.Addr{netip.MustParseAddr(address)}})
	url = serveAt(t, address, named.Certificates.Serving, publish(named.Authorities.CABundle()))
	if _, err := identity.FetchCA(t.Context(), url, named.Authorities.CAHash()); err != nil {
		t.Errorf("Once the address is in the certificate, the call succeeds.\nFetchCA(...) = %v", err)
	}
}

func TestFetchUnpinnedCA(t *testing.T) {
	t.Parallel()

	garden := newGarden(t, names())
	got, err := identity.FetchUnpinnedCA(t.Context(), serve(t, garden.Certificates.Serving, publish(garden.Authorities.CABundle())))
	if err != nil {
		t.Fatalf("FetchUnpinnedCA(...) = %v", err)
	}
	if diff := cmp.Diff(garden.Authorities.CABundle(), got); diff != "" {
		t.Errorf("FetchUnpinnedCA(...) (-want +got):\n%s", diff)
	}
}

func TestFetchCACancelled(t *testing.T) {
	t.Parallel()

	garden := newGarden(t, names())
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, garden.Certificates.Serving, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := identity.FetchCA(ctx, url, garden.Authorities.CAHash())
	if diff := cmp.Diff(context.Canceled, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("A caller that gives up gets its call back.\nFetchCA(...) error (-want +got):\n%s", diff)
	}
}
