// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// deeds are what users do with a shoot for which its API server has to reach a node, a pod or a Service. There is one way to all of them.
type deeds struct {
	*world

	// shoot is how kubectl asks the shoot, and pod one of the example's there.
	shoot func(args ...string) []string
	pod   string
}

// deed is one of them.
type deed struct {
	name string
	do   func(*testing.T)
}

func (d deeds) all() []deed {
	return []deed{
		{"logs", func(t *testing.T) { t.Helper(); d.must(t, d.shoot("logs", d.pod)...) }},
		{"exec", func(t *testing.T) {
			t.Helper()
			d.says(t, time.Minute, "Hello from hello-", d.shoot("exec", d.pod, "--", "hello", "http://127.0.0.1:8080")...)
		}},
		{"attach", d.attach},
		{"cp", d.copies},
		{"port-forward", d.forward},
		{"proxy to a pod", func(t *testing.T) { t.Helper(); d.proxy(t, "pods/"+d.pod+":8080") }},
		{"proxy to a Service", func(t *testing.T) { t.Helper(); d.proxy(t, "services/hello:80") }},
		{"an aggregated API, by top", func(t *testing.T) {
			t.Helper()
			d.says(t, 2*time.Minute, "machine-worker", d.shoot("top", "nodes")...)
		}},
		{"a validating webhook", d.webhook},
	}
}

// throughTunnel does all of them and sees each on its way.
func (d deeds) throughTunnel(t *testing.T, plane string) {
	t.Helper()
	var took strings.Builder
	for _, deed := range d.all() {
		before, began := packets(t, d.world, plane), time.Now()
		deed.do(t)
		fmt.Fprintf(&took, "\n%6.1f s  %s", time.Since(began).Seconds(), deed.name)
		if after := packets(t, d.world, plane); after <= before {
			t.Errorf("%s: the tunnel has seen %d packets before and %d after", deed.name, before, after)
		}
	}
	t.Logf("through the tunnel:%s", &took)
}

const parrot = `
apiVersion: v1
kind: Pod
metadata: {name: parrot, namespace: default}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: parrot, image: "terrarium.garden/hello:v1", imagePullPolicy: IfNotPresent, args: ["-"], stdin: true, stdinOnce: true}]
`

// attach speaks to a program that runs, and hears what it answers.
func (d deeds) attach(t *testing.T) {
	t.Helper()
	d.mustWith(t, parrot, d.shoot("create", "-f", "-")...)
	d.must(t, d.shoot("wait", "pod/parrot", "--for=condition=Ready", "--timeout=60s")...)
	if said := d.mustWith(t, "world\n", d.shoot("attach", "-i", "parrot")...); !strings.Contains(said, "Hello, world") {
		t.Errorf("attach heard %q", said)
	}
	d.must(t, d.shoot("delete", "pod", "parrot", "--now")...)
}

// copies has a file copied into the pod and back.
func (d deeds) copies(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	there, back := filepath.Join(folder, "there"), filepath.Join(folder, "back")
	content := make([]byte, 1<<20)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d.must(t, d.shoot("cp", there, "default/"+d.pod+":/tmp/letter")...)
	d.must(t, d.shoot("cp", "default/"+d.pod+":/tmp/letter", back)...)
	if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, content) {
		t.Errorf("what came back has %d bytes, %v, and is not what was sent", len(got), err)
	}
}

// forward asks the pod through a forwarded port.
func (d deeds) forward(t *testing.T) {
	t.Helper()
	port := freePort(t)
	d.during(t, d.shoot("port-forward", d.pod, fmt.Sprintf("%d:8080", port)), func() {
		d.answers(t, fmt.Sprintf("http://127.0.0.1:%d/", port))
	})
}

// proxy asks what is behind the proxy of the API server, through `kubectl proxy`.
func (d deeds) proxy(t *testing.T, target string) {
	t.Helper()
	port := freePort(t)
	d.during(t, d.shoot("proxy", fmt.Sprintf("--port=%d", port)), func() {
		d.answers(t, fmt.Sprintf("http://127.0.0.1:%d/api/v1/namespaces/default/%s/proxy/", port, target))
	})
}

// during runs a command while something is done, and kills it then.
func (d deeds) during(t *testing.T, command []string, do func()) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), command[0], command[1:]...)
	cmd.Dir = d.root
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Errorf("kill %q: %v", command, err)
		}
		_ = cmd.Wait() // It was killed.
	}()
	do()
}

// answers waits until a URL leads to the example.
func (d deeds) answers(t *testing.T, url string) {
	t.Helper()
	d.eventually(t, time.Minute, url+" answers", func() (bool, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err.Error()
		}
		defer response.Body.Close() //nolint:errcheck // It is only read.
		said, err := io.ReadAll(response.Body)
		return err == nil && strings.Contains(string(said), "Hello from hello-"), string(said)
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()                     //nolint:errcheck // It has accepted nothing.
	return listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
}

const gate = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: gate, namespace: default}
spec:
  selector: {matchLabels: {app: gate}}
  template:
    metadata: {labels: {app: gate}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: gate
          image: terrarium.garden/hello:v1
          imagePullPolicy: IfNotPresent
          readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}
          volumeMounts: [{name: certificate, mountPath: /etc/hello, readOnly: true}]
      volumes: [{name: certificate, secret: {secretName: gate}}]
---
apiVersion: v1
kind: Service
metadata: {name: gate, namespace: default}
spec: {selector: {app: gate}, ports: [{port: 443, targetPort: 8443}]}
`

// webhook has a program in the shoot decide what the API server admits. The answer can only be its own: it is refused what it refuses,
// in its words, and everything else is let through although nothing would be if it did not answer.
func (d deeds) webhook(t *testing.T) {
	t.Helper()
	certificate, key := selfSigned(t, "gate.default.svc")
	secret := object(t, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "gate", "namespace": "default"},
		"stringData": map[string]string{"tls.crt": string(certificate), "tls.key": string(key)},
	})
	d.mustWith(t, secret+"\n---"+gate, d.shoot("create", "-f", "-")...)
	d.must(t, d.shoot("rollout", "status", "deployment/gate", "--timeout=90s")...)
	d.mustWith(t, object(t, map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "gate"},
		"webhooks": []any{map[string]any{
			"name": "gate.example.com", "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"clientConfig":      map[string]any{"caBundle": certificate, "service": map[string]any{"namespace": "default", "name": "gate", "path": "/validate"}},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "default"}},
			"rules": []any{map[string]any{
				"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"configmaps"}, "operations": []string{"CREATE"},
			}},
		}},
	}), d.shoot("create", "-f", "-")...)
	guest := func(label string) []string {
		return d.shoot("create", "--dry-run=server", "-f", write(t, label+".json", object(t, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "guest", "namespace": "default", "labels": map[string]string{"hello": label}},
		})))
	}
	d.eventually(t, time.Minute, "the webhook refuses", func() (bool, string) {
		r := d.try(t, "", guest("unwelcome")...)
		return r.code != 0 && strings.Contains(r.stderr, `"guest" is not welcome: it has the label hello=unwelcome`), r.all()
	})
	d.must(t, guest("welcome")...)
	d.must(t, d.shoot("delete", "validatingwebhookconfiguration", "gate")...)
	d.must(t, d.shoot("-n", "default", "delete", "deployment/gate", "service/gate", "secret/gate")...)
}

// object is a manifest.
func object(t *testing.T, content map[string]any) string {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// selfSigned makes a certificate that is its own authority.
func selfSigned(t *testing.T, name string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IsCA: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
