// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"time"
)

// measured asks for what nodes and pods of the shoot use. The whole way takes part: kubelets with certificates that the shoot has signed,
// metrics-server that verifies them, and the API server that verifies metrics-server.
func measured(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.shoot("wait", "apiservice/v1beta1.metrics.k8s.io", "--for=condition=Available", "--timeout=120s")...)
	node := w.must(t, w.shoot("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")...)
	w.says(t, 2*time.Minute, node, w.shoot("top", "nodes")...)
	w.says(t, 2*time.Minute, "coredns-", w.shoot("-n", "kube-system", "top", "pods")...)
	var measurements struct {
		Items []struct {
			Usage map[string]string `json:"usage"`
		} `json:"items"`
	}
	raw := w.must(t, w.shoot("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes")...)
	if err := json.Unmarshal([]byte(raw), &measurements); err != nil || len(measurements.Items) == 0 || measurements.Items[0].Usage["memory"] == "" {
		t.Errorf("the measurements of nodes are %s, %v", raw, err)
	}

	plane := "shoot--meadow--" + shootName
	if args := w.must(t, w.seed("-n", plane, "get", "deployment", "kube-apiserver", "-o", "jsonpath={.spec.template.spec.containers[0].args}")...); !strings.Contains(args, "--kubelet-certificate-authority=") {
		t.Errorf("the API server does not verify kubelets: %s", args)
	}
	w.must(t, w.shoot("logs", "deployment/hello")...) // It would refuse a kubelet with another certificate.
}

// systemPods looks at a pod of a system component: the API server of the shoot has asked the resource manager where it is to run. A pod of
// the owner runs anywhere.
func systemPods(t *testing.T, w *world) {
	t.Helper()
	const selector = "jsonpath={.items[0].spec.nodeSelector}"
	w.must(t, w.shoot("-n", "kube-system", "delete", "pods", "-l", "k8s-app=kube-dns", "--wait=false")...)
	w.must(t, w.shoot("-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=90s")...)
	w.says(t, time.Minute, `"worker.gardener.cloud/system-components":"true"`, w.shoot("-n", "kube-system", "get", "pods", "-l", "k8s-app=kube-dns", "-o", selector)...)
	if got := w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", selector)...); got != "" {
		t.Errorf("a pod of the owner is kept on nodes with %s", got)
	}
}

// foreignNames has a node ask for the certificate of another name. It is denied, and nobody signs it.
func foreignNames(t *testing.T, w *world) {
	t.Helper()
	node := w.must(t, w.shoot("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")...)
	user := "system:node:" + node
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: user, Organization: []string{"system:nodes"}}, DNSNames: []string{node, "kubernetes.default.svc"},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	asked = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: asked})
	w.mustWith(t, `{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"foreign"},"spec":{"signerName":"kubernetes.io/kubelet-serving","usages":["digital signature","server auth"],"request":"`+
		base64.StdEncoding.EncodeToString(asked)+`"}}`, w.shoot("create", "--as="+user, "--as-group=system:nodes", "--as-group=system:authenticated", "-f", "-")...)
	w.must(t, w.shoot("wait", "csr/foreign", "--for=condition=Denied", "--timeout=30s")...)
	if said := w.must(t, w.shoot("get", "csr", "foreign", "-o", "jsonpath={.status}")...); !strings.Contains(said, "kubernetes.default.svc") || strings.Contains(said, `"certificate"`) {
		t.Errorf("the request has the status %s", said)
	}
	w.must(t, w.shoot("delete", "csr", "foreign")...)
}
