// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
)

// TestHostileKubeconfigs: the extension does nothing with a kubeconfig but connect (GAC-KCFG-3), and the reason quotes nothing of it.
func TestHostileKubeconfigs(t *testing.T) {
	t.Parallel()
	user := func(fields string) string {
		return strings.Replace(access, "{token: secret-token}", "{token: secret-token, "+fields+"}", 1)
	}
	cluster := func(fields string) string {
		return strings.Replace(access, `{server: "https://cloud.example.com"}`, `{server: "https://cloud.example.com", `+fields+"}", 1)
	}
	server := func(url string) string { return strings.Replace(access, "https://cloud.example.com", url, 1) }
	for want, texts := range map[string][]string{
		"exec":                     {user("exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}")},
		"auth-provider":            {user("auth-provider: {name: gcp}")},
		"tokenFile":                {user("tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token")},
		"client-certificate":       {user("client-certificate: /etc/tls.crt")},
		"client-key":               {user("client-key: /etc/tls.key")},
		"act-as":                   {user("as: admin")},
		"certificate-authority":    {cluster("certificate-authority: /etc/ca.crt")},
		"proxy-url":                {cluster(`proxy-url: "http://10.0.0.1:3128"`)},
		"insecure-skip-tls-verify": {cluster("insecure-skip-tls-verify: true")},
		"must be a URL": {
			server("http://cloud.example.com"), server("unix:///run/containerd.sock"), server("cloud.example.com:6443"), server("https://me:secret-token@cloud.example.com"), server(""),
		},
		"cannot be reached": {
			server("https://127.0.0.1:10250"), server("https://[::1]"), server("https://169.254.169.254"), server("https://0.0.0.0"), server("https://[fe80::1]"),
			server("https://[::ffff:127.0.0.1]"), server("https://[64:ff9b::a9fe:a9fe]"), server("https://10.97.0.1"), server("https://10.98.3.4:10250"),
		},
		"current-context":  {strings.Replace(access, "current-context: it", "current-context: other", 1), strings.Replace(access, "user: it}", "user: nobody}", 1)},
		"not a kubeconfig": {"{", "[]", "a: &a [*a]"},
	} {
		for i, text := range texts {
			t.Run(fmt.Sprintf("%s/%d", want, i), func(t *testing.T) {
				t.Parallel()
				_, err := cloudtest.New(t, text).Clouds.Of(t.Context(), name)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Of(...) = %v, want %q", err, want)
				}
				if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, operation.Codes(err)); diff != "" {
					t.Errorf("codes of %v (-want +got):\n%s", err, diff)
				}
				if err != nil && strings.Contains(err.Error(), "secret-token") {
					t.Errorf("the reason quotes credentials: %v", err)
				}
			})
		}
	}
}

// TestNameOfThisMachine: what is refused as an address is refused behind a name.
func TestNameOfThisMachine(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server is reached") }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p := cloudtest.New(t, strings.Replace(access, "cloud.example.com", "localhost:"+port, 1))
	p.Clouds.Connect = nil
	if _, err := p.Clouds.Of(t.Context(), name); err == nil || !strings.Contains(err.Error(), "the address is not allowed") {
		t.Errorf("Of(...) = %v", err)
	}
}

// TestHostileAnswers lists what a server may try.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	status := func(code int, message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
	}
	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		want   string
		absent string
	}{
		"OtherProgram": {
			reason: "a page of another program is not shown to who names its address", want: "not like an API server", absent: "internal page",
			answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "internal page", http.StatusForbidden) },
		},
		"LongError": {
			reason: "an error that would fill the status of the shoot is cut off", want: "", absent: strings.Repeat("x", 9<<10),
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(status(403, strings.Repeat("x", 1<<20))))
			},
		},
		"Endless": {
			reason: "an answer without an end does not fill the memory", want: "too much",
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for block := []byte(strings.Repeat(" ", 1<<20)); r.Context().Err() == nil; {
					if _, err := w.Write(block); err != nil {
						return
					}
				}
			},
		},
		"Later": {
			reason: "a server does not say how long its client waits", want: "not now",
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = w.Write([]byte(status(429, "not now")))
			},
		},
		"Elsewhere": {
			reason: "credentials do not follow a redirection", want: "302",
			answer: func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "stolen") {
					t.Error("the redirection is followed")
				}
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Location", "/stolen")
				w.WriteHeader(http.StatusFound)
			},
		},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, err := cloud.PlaceOf(t.Context(), hostile(t, tc.answer))
			if err == nil || !strings.Contains(err.Error(), tc.want) || (tc.absent != "" && strings.Contains(err.Error(), tc.absent)) {
				t.Errorf("%s\nerror is %.300v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestSilentServer: one that has not answered is left alone for a moment.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := hostile(t, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	})
	for range 2 {
		err := server.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Namespace{})
		if err == nil || !strings.Contains(err.Error(), "no answer a moment ago: EOF") || asked.Load() != 1 {
			t.Errorf("the server is asked %d times: %v", asked.Load(), err)
		}
	}
}

// hostile is a client of a server that answers what it wants. The server is on this machine, which only tests may reach.
func hostile(t *testing.T, answer http.HandlerFunc) client.Client {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	text := strings.Replace(access, `{server: "https://cloud.example.com"}`, fmt.Sprintf(
		`{server: "https://cloud.example.com", tls-server-name: example.com, certificate-authority-data: %s}`, base64.StdEncoding.EncodeToString(ca)), 1)
	config, err := cloud.Config([]byte(text), []netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cloud.Connect(config, types)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKinds: what machines, their load balancers and their volumes are made of is known without a request.
func TestKinds(t *testing.T) {
	t.Parallel()
	c := hostile(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	for _, object := range []client.Object{
		&corev1.Namespace{}, &corev1.Node{}, &corev1.Pod{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{},
		&discoveryv1.EndpointSlice{}, &networkingv1.NetworkPolicy{}, &storagev1.StorageClass{},
	} {
		kind, err := c.GroupVersionKindFor(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			t.Errorf("%T: %v", object, err)
		}
	}
}
