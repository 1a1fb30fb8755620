// SPDX-License-Identifier: Apache-2.0

package shootadmin_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootadmin"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const namespace = "shoot--dev--a"

// authority makes the authority of the shoot, or the next one of a rotation.
func authority(t *testing.T, seed client.Client, clk *clocktesting.FakeClock, rotation secrets.Rotation) *secrets.CA {
	t.Helper()
	return authorityIn(t, namespace, seed, clk, rotation)
}

func authorityIn(t *testing.T, namespace string, seed client.Client, clk *clocktesting.FakeClock, rotation secrets.Rotation) *secrets.CA {
	t.Helper()
	manager, err := secrets.Load(t.Context(), secrets.Config{
		Client: seed, Namespace: namespace, Identity: "gardenlet", Clock: clk, Rotations: secrets.Rotations{Authorities: rotation},
	})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := manager.CA(t.Context(), gardencorev1beta1.SecretCAClient)
	if err != nil {
		t.Fatal(err)
	}

	return ca
}

// user is the certificate in a kubeconfig, verified with an authority.
func user(t *testing.T, kubeconfig []byte, ca *secrets.CA, now time.Time) *x509.Certificate {
	t.Helper()
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if server := config.Clusters[namespace].Server; server != "https://10.99.1.1" {
		t.Errorf("the server is %q", server)
	}
	block, _ := pem.Decode(config.AuthInfos[namespace].ClientCertificateData)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Current.Certificate)
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: now}); err != nil {
		t.Errorf("the shoot does not accept the certificate: %v", err)
	}

	return certificate
}

// TestGoneShootsAreForgotten deletes shoots of which nobody asks for anything any more: their keys do not stay in memory.
func TestGoneShootsAreForgotten(t *testing.T) {
	t.Parallel()
	seed, clk := fake.NewClientBuilder().Build(), clocktesting.NewFakeClock(time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC))
	issuer := &shootadmin.Issuer{Seed: seed, Clock: clk}
	public, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "x", Server: "https://10.99.1.1", CA: []byte("ca"), Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shoot--dev--a", "shoot--dev--b", "shoot--dev--c"} {
		authorityIn(t, name, seed, clk, secrets.Rotation{})
		known := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "gardener"}, Data: map[string][]byte{"kubeconfig": public}}
		if err := seed.Create(t.Context(), known); err != nil {
			t.Fatal(err)
		}
		if _, err := issuer.Kubeconfig(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		clk.Step(10 * time.Minute)
	}
	if have := issuer.Len(); have != 3 {
		t.Errorf("%d certificates are kept, want those of all 3 shoots, which are as good as new", have)
	}
	clk.Step(10 * time.Minute) // Those of the first two have to be renewed.
	if _, err := issuer.Kubeconfig(t.Context(), "shoot--dev--a"); err != nil {
		t.Fatal(err)
	}
	if have := issuer.Len(); have != 2 {
		t.Errorf("%d certificates are kept, want the new one and that of the last shoot", have)
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	seed, clk := fake.NewClientBuilder().Build(), clocktesting.NewFakeClock(time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC))
	issuer := &shootadmin.Issuer{Seed: seed, Clock: clk}
	get := func() []byte {
		t.Helper()
		kubeconfig, err := issuer.Kubeconfig(t.Context(), namespace)
		if err != nil {
			t.Fatal(err)
		}

		return kubeconfig
	}
	if _, err := issuer.Kubeconfig(t.Context(), namespace); !errors.Is(err, kit.ErrNoShootAccess) {
		t.Errorf("a shoot of which nothing is known: %v", err)
	}
	public, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: namespace, Server: "https://10.99.1.1", CA: []byte("ca"), Token: "of somebody else"})
	if err != nil {
		t.Fatal(err)
	}
	known := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener"}, Data: map[string][]byte{"kubeconfig": public}}
	if err := seed.Create(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	if _, err := issuer.Kubeconfig(t.Context(), namespace); !errors.Is(err, kit.ErrNoShootAccess) {
		t.Errorf("a shoot without an authority: %v", err)
	}

	ca := authority(t, seed, clk, secrets.Rotation{})
	first := get()
	certificate := user(t, first, ca, clk.Now())
	if diff := cmp.Diff([]string{"system:masters"}, certificate.Subject.Organization); diff != "" || certificate.Subject.CommonName != "gardener.cloud:system:gardenlet" {
		t.Errorf("the certificate is one of %q, its groups (-want +got):\n%s", certificate.Subject.CommonName, diff)
	}
	if life := certificate.NotAfter.Sub(clk.Now()); life > time.Hour {
		t.Errorf("the certificate is valid for %s, longer than an hour", life)
	}
	config, err := clientcmd.Load(first)
	if err != nil || config.AuthInfos[namespace].Token != "" {
		t.Errorf("the kubeconfig has the token of somebody else, error %v", err)
	}
	clk.Step(29 * time.Minute)
	if string(get()) != string(first) {
		t.Error("the kubeconfig has changed without need, and every connection with it")
	}
	clk.Step(2 * time.Minute)
	second := get()
	if user(t, second, ca, clk.Now()).SerialNumber.Cmp(certificate.SerialNumber) == 0 {
		t.Error("after half of its life, the certificate is the same")
	}
	known.Annotations = map[string]string{shootadmin.AnnotationAuthority: ca.Current.SecretName}
	if err := seed.Update(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	next := authority(t, seed, clk, secrets.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Initiated: clk.Now()})
	user(t, get(), ca, clk.Now()) // The API server does not know the new authority yet.
	known.Annotations[shootadmin.AnnotationAuthority] = next.Current.SecretName
	if err := seed.Update(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	user(t, get(), next, clk.Now())

	left := &corev1.SecretList{}
	if err := seed.List(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	for i := range left.Items {
		if len(left.Items[i].Data["tls.key"]) > 0 {
			t.Errorf("Secret %q holds a certificate: it has to stay in memory", left.Items[i].Name)
		}
	}
}
