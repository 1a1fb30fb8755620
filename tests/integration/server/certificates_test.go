// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// served returns the certificate that a garden shows to new connections.
func served(t *testing.T, g *harness.Garden) *x509.Certificate {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(g.CA)
	at, err := url.Parse(g.Server)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close() //nolint:errcheck // Nothing was written.

	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0] //nolint:forcetypeassert // It was made by tls.
}

var errSame = errors.New("it is still the same")

// awaitServed waits until new connections get another certificate.
func awaitServed(t *testing.T, g *harness.Garden, old *x509.Certificate) {
	t.Helper()
	harness.Eventually(t, "a new serving certificate", func(context.Context) error {
		if served(t, g).Equal(old) { //nolint:contextcheck // It has that of the test.
			return errSame
		}

		return nil
	})
}

// aged makes the certificates in a data directory old, and returns times just before and after they have to be renewed. A clock
// that is stepped takes its time, so the times are close to each other.
func aged(t *testing.T, dir string) (from, until time.Time) {
	t.Helper()
	past := clocktesting.NewFakePassiveClock(time.Now().Add(-330 * 24 * time.Hour))
	for {
		if _, err := identity.RenewDirectory(dir, past); err != nil {
			t.Fatal(err)
		}
		items, err := identity.Inspect(dir, past.Now())
		if err != nil {
			t.Fatal(err)
		}
		serving, admin := *items[0].RenewalDue, *items[1].RenewalDue
		if serving.Sub(admin).Abs() < 36*time.Hour {
			if admin.Before(serving) {
				serving, admin = admin, serving
			}

			return serving.Add(-time.Minute), admin.Add(2 * time.Minute)
		}
	}
}

// TestCertificatesRenewedWhileRunning lets most of the life of the certificates pass: new connections get new ones, and those that
// are open go on.
func TestCertificatesRenewedWhileRunning(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	g.Stop(t)
	from, until := aged(t, g.DataDir)
	clk := harness.NewClockAt(t, from)
	g = harness.Start(t, harness.WithDataDir(g.DataDir), harness.WithClock(clk))
	old := served(t, g)
	watching, err := g.Client.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"))
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()

	clk.Step(until.Sub(from))
	awaitServed(t, g, old)
	if left := served(t, g).NotAfter.Sub(until); left < 364*24*time.Hour {
		t.Errorf("The new certificate is valid for a year: got %s", left)
	}

	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mark"}}
	if err := g.Client.Create(t.Context(), mark); err != nil {
		t.Fatalf("The old client certificate is still accepted: %v", err)
	}
	for seen := false; !seen; {
		event, open := <-watching.ResultChan()
		if !open {
			t.Fatal("The connection was closed.")
		}
		found, ok := event.Object.(*corev1.ConfigMap)
		seen = ok && found.Name == mark.Name
	}

	var renewed *rest.Config
	harness.Eventually(t, "a new certificate in the administrator's kubeconfig", func(context.Context) error {
		if renewed, err = clientcmd.BuildConfigFromFlags("", g.Kubeconfig); err == nil && bytes.Equal(renewed.CertData, g.Config.CertData) {
			err = errSame
		}

		return err
	})
	c, err := kubernetes.NewForConfig(renewed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Secrets("garden").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("with the new kubeconfig: %v", err)
	}
}

// TestCertificateCommands checks and renews the certificates of a garden that runs, and of one that does not.
func TestCertificateCommands(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	for _, user := range []string{"mallory", "gardener.cloud:system:seed:eu"} {
		if _, err := raw(t, g, "/appliance/certificates", user, "gardener.cloud:system:seeds"); !apierrors.IsForbidden(err) {
			t.Errorf("GET as %q: got %v, want Forbidden", user, err)
		}
		if err := rotate(t, g, user); !apierrors.IsForbidden(err) {
			t.Errorf("POST as %q: got %v, want Forbidden", user, err)
		}
	}
	check := func(args ...string) string {
		t.Helper()
		status, out, errs := terrarium(t, append([]string{"certificate", "check", "--data-dir", g.DataDir}, args...)...)
		if status != 0 {
			t.Fatalf("check %q: status %d\n%s%s", args, status, out, errs)
		}

		return out
	}
	var report struct{ Items []identity.Item }
	if err := json.Unmarshal([]byte(check("-o", "json")), &report); err != nil {
		t.Error(err)
	}
	var items []string
	for _, item := range report.Items {
		items = append(items, item.Name)
	}
	if diff := cmp.Diff([]string{
		"serving", "admin", "front-proxy-client", "server-ca", "client-ca", "front-proxy-ca", "service-account", "workload-identity", "encryption",
	}, items); diff != "" {
		t.Errorf("items of check (-want +got):\n%s", diff)
	}
	if out := check(); !strings.Contains(out, "RENEWAL DUE") || strings.Contains(out, "PRIVATE") {
		t.Errorf("check:\n%s", out)
	}

	old := served(t, g)
	if status, out, errs := terrarium(t, "certificate", "rotate", "--offline", "--data-dir", g.DataDir); status != 1 || !strings.Contains(errs, "leave out --offline") {
		t.Errorf("rotate of files in use: status %d\n%s%s", status, out, errs)
	}
	if status, out, errs := terrarium(t, "certificate", "rotate", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "serving") {
		t.Fatalf("rotate: status %d\n%s%s", status, out, errs)
	}
	awaitServed(t, g, old)
	check()

	g.Stop(t)
	if status, out, errs := terrarium(t, "certificate", "rotate", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "admin") {
		t.Errorf("rotate without a server: status %d\n%s%s", status, out, errs)
	}
	check()
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	if err := again.Client.List(t.Context(), &corev1.NamespaceList{}); err != nil {
		t.Errorf("with the kubeconfig that was renewed while the server was off: %v", err)
	}
}

// rotate asks for new certificates as a user.
func rotate(t *testing.T, g *harness.Garden, user string) error {
	t.Helper()
	config := rest.CopyConfig(g.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"gardener.cloud:system:seeds", "system:authenticated"}}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}

	return c.Discovery().RESTClient().Post().AbsPath("/appliance/certificates").Body([]byte(`{"rotate":"certificates"}`)).Do(t.Context()).Error()
}
