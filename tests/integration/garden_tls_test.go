// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// TestConnections looks at what everybody sees who connects: the ciphers, and the issuer of workload identities.
func TestConnections(t *testing.T) {
	t.Parallel()
	o := operate(t)
	address, err := url.Parse(o.Server)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(o.CA)

	for reason, tc := range map[string]struct {
		suites []uint16
		want   bool
	}{
		"old clients have a cipher that authenticates what it encrypts": {suites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, want: true},
		"ciphers without authentication are refused": {suites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
		}},
	} {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS12, CipherSuites: tc.suites}}
		connection, err := dialer.DialContext(t.Context(), "tcp", address.Host)
		if (err == nil) != tc.want {
			t.Errorf("%s: got error %v", reason, err)
		}
		if err == nil {
			_ = connection.Close()
		}
	}

	const path = "/garden/workload-identity/issuer"
	got := struct{ Issuer string }{}
	if err := get(t.Context(), o.Anonymous(), o.Server+path+"/.well-known/openid-configuration", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o.External+path, got.Issuer); diff != "" {
		t.Errorf("who verifies a token asks the server that issued it, at its port; issuer (-want +got):\n%s", diff)
	}
}

func get(ctx context.Context, config *rest.Config, address string, into any) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // nothing is written
	return json.NewDecoder(response.Body).Decode(into)
}
