// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// admin returns the current configuration of the administrator.
func admin(t *testing.T, g *harness.Garden) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", g.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}

	return config
}

// accepts asks a garden who one is, with a certificate, on a new connection.
func accepts(ctx context.Context, of *rest.Config, trusting []byte, at string) error {
	config := &rest.Config{Host: at, Dial: new(net.Dialer).DialContext, TLSClientConfig: rest.TLSClientConfig{CAData: trusting, CertData: of.CertData, KeyData: of.KeyData}}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}

	return c.Create(ctx, &authenticationv1.SelfSubjectReview{})
}

// TestAuthorityRotation changes the authorities with a seed whose gardenlet does not tell which it uses, stops the server between
// the phases, and restores the snapshot of each [OPER-ROT-3, OPER-ROT-5].
func TestAuthorityRotation(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	phase := func(want int, says string, args ...string) {
		t.Helper()
		status, out, errs := terrarium(t, append([]string{"certificate", "rotate-ca", "--data-dir", g.DataDir}, args...)...)
		if status != want || !strings.Contains(errs, says) {
			t.Fatalf("%q: status %d, want %d and %q\n%s%s", args, status, want, says, out, errs)
		}
	}
	// What a join begins with: the CA by the hash in a token, and then a request with a bootstrap kubeconfig.
	hash, bundle := identity.HashCA(g.CA), g.CA
	joins := func(why string, works bool) {
		t.Helper()
		found, err := identity.FetchCA(t.Context(), g.Server, hash)
		if diff := cmp.Diff(string(bundle), string(found)); works && (err != nil || diff != "") {
			t.Errorf("%s: the CA of a token from before the change: %v (-want +got):\n%s", why, err, diff)
		}
		if !works && (err == nil || !strings.Contains(err.Error(), "make a new token with terrarium token create")) {
			t.Errorf("%s: the CA of a token from before the change: got %v", why, err)
		}
		err = gardenaccess.Explain(g.Server, accepts(t.Context(), &rest.Config{}, bundle, g.Server))
		if works && errors.Is(err, gardenaccess.ErrOtherServer) {
			t.Errorf("%s: a bootstrap kubeconfig from before the change: %v", why, err)
		}
		if !works && (!errors.Is(err, gardenaccess.ErrOtherServer) || !strings.Contains(err.Error(), "with a new token")) {
			t.Errorf("%s: a bootstrap kubeconfig from before the change: got %v", why, err)
		}
	}
	joins("before", true)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "silent"}}
	domain := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "internal-domain"}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "silent"}, Spec: gardencorev1beta1.SeedSpec{
		Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "north"},
		Networks: gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"},
		DNS: gardencorev1beta1.SeedDNS{
			Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: domain},
			Provider: &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &domain},
		},
		Ingress: &gardencorev1beta1.Ingress{Domain: "ingress.example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}},
	}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: domain.Namespace, Name: domain.Name, Labels: map[string]string{"gardener.cloud/role": "internal-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": "internal.example.org"},
	}}
	robot := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}}
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot", Annotations: map[string]string{corev1.ServiceAccountNameKey: robot.Name}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}
	for _, o := range []client.Object{secret, lease, seed, robot, token} {
		if err := g.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	old := admin(t, g)
	phase(1, "no rotation has begun", "complete")
	phase(0, "silent", "start")
	joins("between the phases", true)
	phase(1, "a rotation has begun", "start")
	phase(1, "would be shut out: silent;", "complete")
	if status, out, errs := terrarium(t, "certificate", "check", "--data-dir", g.DataDir); status != 0 || strings.Count(out, "rotating: trusted") != 3 || !strings.Contains(out, "Rotation of the authorities: Started on") {
		t.Errorf("check: status %d\n%s%s", status, out, errs)
	}
	during := awaitSnapshot(t, g, 1)
	both := admin(t, g)
	for name, config := range map[string]*rest.Config{"former": old, "new": both} {
		if err := accepts(t.Context(), config, old.CAData, g.Server); err != nil {
			t.Errorf("%s certificate of the administrator, trusting the former authority: %v", name, err)
		}
	}

	g.Stop(t)
	if status, out, errs := terrarium(t, "certificate", "check", "--offline", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "Rotation of the authorities: Started on") {
		t.Errorf("check offline: status %d\n%s%s", status, out, errs)
	}
	g = harness.Start(t, harness.WithDataDir(g.DataDir))
	phase(1, "would be shut out: silent;", "complete")
	phase(0, "are not trusted any more", "complete", "--force")
	after := awaitSnapshot(t, g, 2)
	check := func(g *harness.Garden) {
		t.Helper()
		fresh := admin(t, g)
		if err := accepts(t.Context(), fresh, fresh.CAData, g.Server); err != nil {
			t.Errorf("the certificate of the administrator: %v", err)
		}
		if err := accepts(t.Context(), both, fresh.CAData, g.Server); err != nil {
			t.Errorf("a certificate that the new authority has signed before the completion: %v", err)
		}
		harness.Eventually(t, "the former certificate to be refused", func(ctx context.Context) error {
			if err := accepts(ctx, old, fresh.CAData, g.Server); !apierrors.IsUnauthorized(err) {
				return fmt.Errorf("%w: %v", errSame, err) //nolint:errorlint // It may be nil.
			}

			return nil
		})
		harness.Await(t, clientOf(t, g), token, "the new authority in the Secret of a service account", func(s *corev1.Secret) error {
			if string(s.Data[corev1.ServiceAccountRootCAKey]) != string(fresh.CAData) {
				return errSame
			}

			return nil
		})
		if err := accepts(t.Context(), fresh, old.CAData, g.Server); err == nil {
			t.Error("A client that trusts only the former authority accepts the server.")
		}
	}
	check(g)
	joins("after the completion", false)
	g.Stop(t)
	g = harness.Start(t, harness.WithDataDir(g.DataDir))
	check(g)
	g.Stop(t)

	restored := harness.Start(t, harness.WithDataDir(restore(t, g.DataDir, after)))
	check(restored)
	restored.Stop(t)
	restored = harness.Start(t, harness.WithDataDir(restore(t, g.DataDir, during)))
	for name, config := range map[string]*rest.Config{"former": old, "new": both} {
		if err := accepts(t.Context(), config, old.CAData, restored.Server); err != nil {
			t.Errorf("%s certificate after the snapshot between the phases was restored: %v", name, err)
		}
	}
}

// clientOf returns a client of the administrator, with the current certificate.
func clientOf(t *testing.T, g *harness.Garden) client.Client {
	t.Helper()
	c, err := client.New(admin(t, g), client.Options{Scheme: g.Scheme})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// awaitSnapshot waits until a garden has some snapshots, and returns the name of the newest one.
func awaitSnapshot(t *testing.T, g *harness.Garden, count int) string {
	t.Helper()
	c, list := clientOf(t, g), &gardenappliancev1alpha1.SnapshotList{}
	harness.Eventually(t, "a snapshot", func(ctx context.Context) error {
		if err := c.List(ctx, list); err != nil {
			return err
		}
		if len(list.Items) != count {
			return fmt.Errorf("%w: %d", errSame, len(list.Items))
		}

		return nil
	})

	return list.Items[0].Name
}
