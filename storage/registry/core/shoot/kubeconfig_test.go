// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const bundle = "the CA of the shoot's servers"

// authority is a CA with its key, in PEM.
type authority struct{ certificate, key []byte }

func newAuthority(t *testing.T, isCA bool, until time.Time) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca-client"}, IsCA: isCA, BasicConstraintsValid: true,
		NotBefore: kindtest.Now().Add(-time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return authority{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}),
	}
}

// withLargeKey returns the certificate of a CA with an RSA key of 16384 bits, whose factors nobody knows.
func withLargeKey(t *testing.T) []byte {
	t.Helper()
	issuer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modulus := new(big.Int).Lsh(big.NewInt(1), 16383)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: kindtest.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &rsa.PublicKey{N: modulus.SetBit(modulus, 0, 1), E: 65537}, issuer)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func addresses(names ...string) func(*object) {
	return func(s *object) {
		for _, name := range names {
			s.Status.AdvertisedAddresses = append(s.Status.AdvertisedAddresses, gardencorev1beta1.ShootAdvertisedAddress{Name: name, URL: "https://" + name + ".example.com"})
		}
	}
}

// published is a world with a shoot that its gardenlet has made, with the given data in its InternalSecret.
func published(t *testing.T, data map[string][]byte, names ...string) *world {
	t.Helper()
	return publishedWith(t, data, func(*shoot.Settings) {}, names...)
}

func publishedWith(t *testing.T, data map[string][]byte, with func(*shoot.Settings), names ...string) *world {
	t.Helper()
	w := newWorld(t, with, func(o *shoot.Settings) {
		o.ConfigMap = func(_ context.Context, namespace, name string) (*corev1.ConfigMap, error) {
			if namespace+"/"+name != "garden-meadow/sprout.ca-cluster" {
				return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), name)
			}
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"ca.crt": bundle}}, nil
		}
		// The question is part of what is tried: who may list Secrets, or Projects, everywhere.
		o.Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			question := strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetAPIGroup(), a.GetResource(), a.GetNamespace()}, "|")
			if question == "keeper|list||secrets|" || question == "keeper|list|core.gardener.cloud|projects|" {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionNoOpinion, "", nil
		})
	})
	s := w.main.MustCreate(w.ctx, sprout())
	addresses(names...)(s)
	w.status.MustUpdate(w.ctx, s)
	if data != nil {
		w.secrets.MustCreate(w.ctx, &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout.ca-client"}, Data: data})
	}
	return w
}

func (w *world) request(t *testing.T, sort, user string, body runtime.Object) error {
	t.Helper()
	maker, ok := w.all["shoots/"+sort].(rest.NamedCreater)
	if !ok {
		t.Fatalf("shoots/%s is not served", sort)
	}
	_, err := maker.Create(kindtest.Context(t, namespace, user), "sprout", body, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	return err
}

func admin(seconds *int64) *gardenauthenticationv1alpha1.AdminKubeconfigRequest {
	return &gardenauthenticationv1alpha1.AdminKubeconfigRequest{Spec: gardenauthenticationv1alpha1.AdminKubeconfigRequestSpec{ExpirationSeconds: seconds}}
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, true, kindtest.Now().Add(20*time.Hour))
	w := published(t, map[string][]byte{"ca.crt": ca.certificate, "ca.key": ca.key}, "external")
	for name, tc := range map[string]struct {
		reason, sort, user  string
		seconds             *int64
		wantName, wantGroup string
		lasts               time.Duration
	}{
		"API-KUBE-3 member":   {"a member gets the rights of the project", "adminkubeconfig", "rose", nil, "gardener.cloud:admin:rose", "gardener.cloud:project:admins", time.Hour},
		"API-KUBE-4 operator": {"who sees all secrets gets all rights", "adminkubeconfig", "keeper", nil, "gardener.cloud:admin:keeper", "gardener.cloud:system:admins", time.Hour},
		"API-KUBE-1 least":    {"ten minutes are the least", "adminkubeconfig", "rose", new(int64(600)), "gardener.cloud:admin:rose", "gardener.cloud:project:admins", 10 * time.Minute},
		"API-KUBE-1 bound":    {"more than the CA has is cut", "adminkubeconfig", "rose", new(int64(80000)), "gardener.cloud:admin:rose", "gardener.cloud:project:admins", 20 * time.Hour},
		"API-KUBE-7 member":   {"a viewer of the project", "viewerkubeconfig", "rose", nil, "gardener.cloud:viewer:rose", "gardener.cloud:project:viewers", time.Hour},
		"API-KUBE-7 operator": {"who sees all projects", "viewerkubeconfig", "keeper", nil, "gardener.cloud:viewer:keeper", "gardener.cloud:system:viewers", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, until := ask(t, w, tc.sort, tc.user, tc.seconds)
			config, err := clientcmd.Load(raw)
			if err != nil {
				t.Fatalf("%s\nread kubeconfig: %v", tc.reason, err)
			}
			login := config.AuthInfos["garden-meadow--sprout-external"]
			block, _ := pem.Decode(login.ClientCertificateData)
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if certificate.Subject.CommonName != tc.wantName || !cmp.Equal(certificate.Subject.Organization, []string{tc.wantGroup}) {
				t.Errorf("%s: subject %s", tc.reason, certificate.Subject)
			}
			if want := kindtest.Now().Add(tc.lasts); !certificate.NotAfter.Equal(want) || !until.Time.Equal(want) {
				t.Errorf("API-KUBE-2: %s: valid until %s, announced %s, want %s", tc.reason, certificate.NotAfter, until, want)
			}
			if !certificate.NotBefore.Before(kindtest.Now()) || certificate.IsCA || !cmp.Equal(certificate.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) {
				t.Errorf("the certificate is one of a client, valid from a little before now: %s, %v", certificate.NotBefore, certificate.ExtKeyUsage)
			}
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(ca.certificate)
			if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: kindtest.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
				t.Errorf("API-KUBE-3: the client CA of the shoot has signed it: %v", err)
			}
		})
	}
}

func ask(t *testing.T, w *world, sort, user string, seconds *int64) ([]byte, metav1.Time) {
	t.Helper()
	if sort == "viewerkubeconfig" {
		r := &gardenauthenticationv1alpha1.ViewerKubeconfigRequest{Spec: gardenauthenticationv1alpha1.ViewerKubeconfigRequestSpec{ExpirationSeconds: seconds}}
		if err := w.request(t, sort, user, r); err != nil {
			t.Fatal(err)
		}
		return r.Status.Kubeconfig, r.Status.ExpirationTimestamp
	}
	r := admin(seconds)
	if err := w.request(t, sort, user, r); err != nil {
		t.Fatal(err)
	}
	return r.Status.Kubeconfig, r.Status.ExpirationTimestamp
}

// TestShorterKubeconfig has a further bound that changes between two requests.
func TestShorterKubeconfig(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, true, kindtest.Now().Add(100*time.Hour))
	var shorter time.Duration
	w := publishedWith(t, map[string][]byte{"ca.crt": ca.certificate, "ca.key": ca.key}, func(o *shoot.Settings) {
		o.ShorterKubeconfigLifetime = func() time.Duration { return shorter }
	}, "external")
	for _, tc := range []struct {
		reason         string
		shorter, lasts time.Duration
	}{
		{"without one the first counts", 0, 24 * time.Hour},
		{"a shorter one counts from the next request on", 2 * time.Hour, 2 * time.Hour},
		{"a longer one changes nothing", 48 * time.Hour, 24 * time.Hour},
	} {
		shorter = tc.shorter
		_, until := ask(t, w, "adminkubeconfig", "rose", new(int64(90*3600)))
		if want := kindtest.Now().Add(tc.lasts); !until.Time.Equal(want) {
			t.Errorf("API-KUBE-1: %s: valid until %s, want %s", tc.reason, until, want)
		}
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, true, kindtest.Now().Add(time.Hour))
	w := published(t, map[string][]byte{"ca.crt": ca.certificate, "ca.key": ca.key}, "service-account-issuer", "external", "wildcard-tls-seed-bound", "internal", "unmanaged")
	r := admin(nil)
	if err := w.request(t, "adminkubeconfig", "rose", r); err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.Load(r.Status.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	want := clientcmdapi.NewConfig()
	want.CurrentContext = "garden-meadow--sprout-external"
	want.AuthInfos["garden-meadow--sprout-external"] = clientcmdapi.NewAuthInfo()
	for _, name := range []string{"external", "wildcard-tls-seed-bound", "internal", "unmanaged"} {
		full := "garden-meadow--sprout-" + name
		want.Clusters[full] = &clientcmdapi.Cluster{Server: "https://" + name + ".example.com", CertificateAuthorityData: []byte(bundle)}
		want.Contexts[full] = &clientcmdapi.Context{Cluster: full, AuthInfo: "garden-meadow--sprout-external"}
	}
	want.Clusters["garden-meadow--sprout-wildcard-tls-seed-bound"].CertificateAuthorityData = nil
	options := []cmp.Option{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(clientcmdapi.AuthInfo{}, "ClientCertificateData", "ClientKeyData", "LocationOfOrigin"),
		cmpopts.IgnoreFields(clientcmdapi.Cluster{}, "LocationOfOrigin"), cmpopts.IgnoreFields(clientcmdapi.Context{}, "LocationOfOrigin"),
	}
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("API-KUBE-5: one cluster and context an address (-want +got):\n%s", diff)
	}
}

func TestKubeconfigErrors(t *testing.T) {
	t.Parallel()
	good, leaf, old := newAuthority(t, true, kindtest.Now().Add(time.Hour)), newAuthority(t, false, kindtest.Now().Add(time.Hour)), newAuthority(t, true, kindtest.Now().Add(-time.Minute))
	whole := func(a authority) map[string][]byte {
		return map[string][]byte{"ca.crt": a.certificate, "ca.key": a.key}
	}
	large := authority{certificate: withLargeKey(t), key: good.key}
	padded := authority{certificate: good.certificate, key: append(bytes.Repeat([]byte("\n"), 8<<10), good.key...)}
	for name, tc := range map[string]struct {
		reason  string
		data    map[string][]byte
		address string
		seconds *int64
		is      func(error) bool
		words   string
	}{
		"API-KUBE-6 short":        {"nine minutes are too short", whole(good), "external", new(int64(599)), apierrors.IsInvalid, "between 600 and 4294967295"},
		"API-KUBE-6 long":         {"there is an end to it", whole(good), "external", new(int64(1) << 32), apierrors.IsInvalid, "between 600 and 4294967295"},
		"API-KUBE-6 no address":   {"there must be somewhere to go", whole(good), "service-account-issuer", nil, apierrors.IsInvalid, "no address yet"},
		"API-KUBE-6 no CA":        {"there must be a CA", nil, "external", nil, apierrors.IsInternalError, "sprout.ca-client"},
		"API-KUBE-6 broken CA":    {"that can be read", map[string][]byte{"ca.crt": []byte("x")}, "external", nil, apierrors.IsInternalError, "sprout.ca-client"},
		"API-KUBE-6 no CA at all": {"and is one", whole(leaf), "external", nil, apierrors.IsInternalError, "is not a certificate authority"},
		"API-KUBE-6 large CA":     {"and has a key that can be computed with in no time", whole(large), "external", nil, apierrors.IsInternalError, "RSA key of at most 8192 bits"},
		"API-KUBE-6 large file":   {"a private key is not parsed if no such key is as large", whole(padded), "external", nil, apierrors.IsInternalError, "RSA key of at most 8192 bits"},
		"API-KUBE-6 expired CA":   {"and is valid", whole(old), "external", nil, apierrors.IsInternalError, "expired at 2030-01-02T03:03:05Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := published(t, tc.data, tc.address)
			r := admin(tc.seconds)
			err := w.request(t, "adminkubeconfig", "rose", r)
			if err == nil || !tc.is(err) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.words)
			}
			if r.Status.Kubeconfig != nil {
				t.Error("a refused request leaves no credentials")
			}
			var refused apierrors.APIStatus
			if tc.is(err) && apierrors.IsInvalid(err) && (!errors.As(err, &refused) || refused.Status().Details.Kind != "AdminKubeconfigRequest" ||
				refused.Status().Details.Group != "authentication.gardener.cloud" || refused.Status().Details.Name != "sprout") {
				t.Errorf("API-KUBE-6: it is the request that is wrong, and named: %v", err)
			}
			if long := tc.seconds != nil && *tc.seconds > 1<<31; long != strings.Contains(err.Error(), "Too long") {
				t.Errorf("API-KUBE-6: too long is told apart from too short: %v", err)
			}
		})
	}
}

func TestKubeconfigOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.request(t, "adminkubeconfig", "rose", admin(nil)); !apierrors.IsNotFound(err) {
		t.Errorf("a shoot that does not exist has no kubeconfig: %v", err)
	}
	if err := w.request(t, "adminkubeconfig", "rose", sprout()); !apierrors.IsBadRequest(err) {
		t.Errorf("another kind is no request: %v", err)
	}
	w = published(t, nil, "external")
	var lasting int64 = 1 << 31
	ca := newAuthority(t, true, kindtest.Now().Add(1000*time.Hour))
	w.secrets.MustCreate(w.ctx, &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout.ca-client"}, Data: map[string][]byte{"ca.crt": ca.certificate, "ca.key": ca.key}})
	_, until := ask(t, w, "adminkubeconfig", "rose", &lasting)
	if want := kindtest.Now().Add(24 * time.Hour); !until.Time.Equal(want) {
		t.Errorf("API-KUBE-1: what is above the server's bound is lowered to it, got %s, want %s", until, want)
	}
	for _, seconds := range []*int64{nil, &lasting} {
		r, want := admin(seconds), int64(3600)
		if seconds != nil {
			want = 86400
		}
		if err := w.request(t, "adminkubeconfig", "rose", r); err != nil || *r.Spec.ExpirationSeconds != want {
			t.Errorf("API-KUBE-1: the answer says for how long it is, want %d seconds, got %d, %v", want, *r.Spec.ExpirationSeconds, err)
		}
	}
}
