// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// garden is the part of a garden's API that a gardenlet needs on its way in.
type garden struct {
	*httptest.Server

	signer *x509.Certificate
	key    *ecdsa.PrivateKey
	now    func() time.Time

	mu       sync.Mutex
	requests []*certificatesv1.CertificateSigningRequest
	// decide fills the status of a request when it is created; nil issues a certificate.
	decide func(*certificatesv1.CertificateSigningRequest)
	// refuse is answered instead of anything else, if it is not 0.
	refuse int
	// published is the content of the ConfigMap kube-root-ca.crt; empty means that it does not exist.
	published string
	deleted   []string
	// seen has the serial numbers of the client certificates of all callers.
	seen []string
}

func newGarden(t *testing.T, now func() time.Time) *garden {
	t.Helper()
	g := &garden{now: now}
	g.key, g.signer = authority(t)
	g.Server = httptest.NewUnstartedServer(g)
	g.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	g.StartTLS()
	t.Cleanup(g.Close)
	return g
}

func authority(t *testing.T) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, certificate
}

// ca is the bundle that the garden's own certificate is verified with.
func (g *garden) ca() []byte { return encode(g.Certificate()) }

func encode(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

func (g *garden) with(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func (g *garden) created() []*certificatesv1.CertificateSigningRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.requests)
}

func (g *garden) issue(request *certificatesv1.CertificateSigningRequest) {
	block, _ := pem.Decode(request.Spec.Request)
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(g.requests)) + 100), Subject: parsed.Subject, DNSNames: parsed.DNSNames,
		NotBefore: g.now(), NotAfter: g.now().Add(100 * time.Hour),
	}, g.signer, parsed.PublicKey, g.key)
	if err != nil {
		panic(err)
	}
	request.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// ServeHTTP implements http.Handler.
func (g *garden) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, peer := range r.TLS.PeerCertificates {
		g.seen = append(g.seen, peer.SerialNumber.String())
	}
	const requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	switch {
	case g.refuse != 0:
		refuse(w, g.refuse)
	case r.Method == http.MethodPost && r.URL.Path == requestsPath:
		request := &certificatesv1.CertificateSigningRequest{}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, request); err != nil {
			panic(err)
		}
		request.Name = fmt.Sprintf("%s%d", request.GenerateName, len(g.requests))
		if g.decide != nil {
			g.decide(request)
		} else {
			g.issue(request)
		}
		g.requests = append(g.requests, request)
		reply(w, http.StatusCreated, request)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, requestsPath+"/"):
		for _, request := range g.requests {
			if strings.HasSuffix(r.URL.Path, "/"+request.Name) {
				reply(w, http.StatusOK, request)
				return
			}
		}
		refuse(w, http.StatusNotFound)
	case r.Method == http.MethodGet && r.URL.Path == "/api/v1/namespaces/gardener-system-public/configmaps/kube-root-ca.crt" && g.published != "":
		reply(w, http.StatusOK, &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{"ca.crt": g.published},
		})
	case r.Method == http.MethodDelete:
		g.deleted = append(g.deleted, r.URL.Path)
		reply(w, http.StatusOK, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	default:
		refuse(w, http.StatusNotFound)
	}
}

func refuse(w http.ResponseWriter, code int) {
	reasons := map[int]metav1.StatusReason{
		http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden,
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	}
	reply(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: http.StatusText(code),
	})
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}
