// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const pods = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","namespace":"kube-system","object":{"metadata":{"name":"p","labels":{"resources.gardener.cloud/managed-by":"gardener"%s}%s},"spec":{"containers":[{"name":"c"}]}}}}`

// key is that of the shoot a.
const key = "0123abcd"

// served is a running server for the shoot a of a seed, and what API servers trust.
type served struct {
	address     string
	seed, shoot *x509.CertPool
}

// issue makes an authority and a certificate in a namespace, and returns the certificate and who signed it.
func issue(t *testing.T, c client.Client, namespace, host string) (*secrets.Certificate, *x509.CertPool) {
	t.Helper()
	keys, err := secrets.Load(t.Context(), secrets.Config{Client: c, Namespace: namespace, Identity: "gardenlet", Clock: clocktesting.NewFakePassiveClock(metav1.Now().Time)})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := keys.CA(t.Context(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	made, err := keys.Certificate(t.Context(), secrets.CertificateSpec{Name: "gardener-resource-manager-webhooks", CA: ca, Usage: secrets.UsageServer, DNSNames: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.Bundle.PEM)
	return made, pool
}

// keySecret is what the gardenlet makes for the shoot a.
func keySecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "k", Labels: map[string]string{"managed-by": "secrets-manager", "name": "gardener-resource-manager-webhooks-key"}},
		Data:       map[string][]byte{"token": []byte(key)},
	}
}

func serve(t *testing.T, objects ...client.Object) served {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
	shoot := fake.NewClientBuilder().WithScheme(types).WithObjects(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "system", Labels: map[string]string{"worker.gardener.cloud/system-components": "true"}}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "dedicated", Value: "system", Effect: corev1.TaintEffectNoSchedule},
			{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute},
			{Key: "ToBeDeletedByClusterAutoscaler", Effect: corev1.TaintEffectNoSchedule},
			{Key: "node.gardener.cloud/critical-components-not-ready", Effect: corev1.TaintEffectNoSchedule},
		}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}}},
	).Build()
	s, folder := served{}, t.TempDir()
	own, trusted := issue(t, seed, "garden", "gardener-resource-manager.garden.svc")
	s.seed = trusted
	_, s.shoot = issue(t, seed, "shoot--dev--a", "gardener-resource-manager.shoot--dev--a.svc")
	err = errors.Join(os.WriteFile(filepath.Join(folder, "tls.crt"), own.Certificate, 0o600), os.WriteFile(filepath.Join(folder, "tls.key"), own.Key, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It ends at once.
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	certificates := &webhooks.ShootCertificates{Seed: seed, Clock: clocktesting.NewFakePassiveClock(metav1.Now().Time)}
	server, err := webhooks.NewShootServer(s.address, folder, certificates.Of)
	if err != nil {
		t.Fatal(err)
	}
	decider := &webhooks.Decider{Shoot: func(_ context.Context, namespace string) (client.Reader, error) {
		if namespace != "shoot--dev--a" {
			return nil, errors.New("there is no such shoot")
		}
		return shoot, nil
	}}
	decider.RegisterShoots(server, webhooks.NewDoor(certificates.Keys, clock.RealClock{}), logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	check := server.StartedChecker()
	listens := func(context.Context) (bool, error) { return check(nil) == nil, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, listens); err != nil {
		t.Fatalf("wait until the server listens: %v", err)
	}
	return s
}

// ask sends a pod to a webhook as an API server does that reaches it under a host name.
func (s served) ask(t *testing.T, host string, trusts *x509.CertPool, path, body string) (string, error) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusts, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.address)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // It is read.
	content, err := io.ReadAll(answer.Body)
	return string(content), err
}

// TestShootsHaveTheirOwnCertificates: an API server trusts what its own authority has signed, and the name decides which cluster is read.
func TestShootsHaveTheirOwnCertificates(t *testing.T) {
	t.Parallel()
	s := serve(t, keySecret())
	const path, ofA, ofB, ofSeed = "/shoot/" + key + "/webhooks/system-components-config", "gardener-resource-manager.shoot--dev--a.svc", "gardener-resource-manager.shoot--dev--b.svc", "gardener-resource-manager.garden.svc"
	plain := fmt.Sprintf(pods, "", "")
	if got, err := s.ask(t, ofA, s.shoot, path, plain); err != nil || !strings.Contains(got, `"allowed":true`) || !strings.Contains(got, `"patch"`) {
		t.Errorf("the shoot a gets %s, %v", got, err)
	}
	for what, one := range map[string]struct {
		host   string
		trusts *x509.CertPool
	}{"shoot with the authority of the seed": {ofA, s.seed}, "seed with the authority of a shoot": {ofSeed, s.shoot}, "shoot that does not exist": {ofB, s.shoot}} {
		if got, err := s.ask(t, one.host, one.trusts, path, plain); err == nil {
			t.Errorf("a %s gets %s", what, got)
		}
	}
}

// TestOthersLearnNothing: who can connect, says any name and any path. A shoot is only for who knows its key, and the seed for nobody.
func TestOthersLearnNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, keySecret())
	const ofA, ofSeed = "gardener-resource-manager.shoot--dev--a.svc", "gardener-resource-manager.garden.svc"
	plain := fmt.Sprintf(pods, "", "")
	for name, tc := range map[string]struct {
		reason, host, path, want string
		trusts                   *x509.CertPool
	}{
		"NoKey":       {"the key is missing", ofA, "/webhooks/system-components-config", "has not the key", s.shoot},
		"OtherKey":    {"it is that of another shoot", ofA, "/shoot/4567abcd/webhooks/system-components-config", "has not the key", s.shoot},
		"SeedByShoot": {"it is a webhook of the seed", ofA, "/webhooks/high-availability-config", "404 page not found", s.shoot},
		"SeedByKey":   {"it is a webhook of the seed", ofA, "/shoot/" + key + "/webhooks/high-availability-config", "404 page not found", s.shoot},
		"SeedByName":  {"the name is that of the seed", ofSeed, "/webhooks/seccomp-profile", "name of the server is that of no shoot", s.seed},
		"SeedOfSeed":  {"both are of the seed", ofSeed, "/webhooks/high-availability-config", "404 page not found", s.seed},
	} {
		if got, err := s.ask(t, tc.host, tc.trusts, tc.path, plain); err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\ngot %s, %v, want %q", name, tc.reason, got, err, tc.want)
		}
	}
}

// TestShootsOfEarlierVersions are let in until a gardenlet has told them their key.
func TestShootsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, path := range []string{"/webhooks/system-components-config", "/shoot/" + key + "/webhooks/system-components-config"} {
		got, err := s.ask(t, "gardener-resource-manager.shoot--dev--a.svc", s.shoot, path, fmt.Sprintf(pods, "", ""))
		if err != nil || !strings.Contains(got, `"patch"`) {
			t.Errorf("%s: got %s, %v", path, got, err)
		}
	}
}

// TestSystemPods_GRM_WH_SYS_1 looks at where pods of system components run.
func TestSystemPods_GRM_WH_SYS_1(t *testing.T) {
	t.Parallel()
	s := serve(t, keySecret())
	const path, host = "/shoot/" + key + "/webhooks/system-components-config", "gardener-resource-manager.shoot--dev--a.svc"
	changes := map[string]string{
		"add /spec/nodeSelector": `{"worker.gardener.cloud/system-components":"true"}`,
		"add /spec/tolerations":  `[{"effect":"NoSchedule","key":"dedicated","operator":"Equal","value":"system"}]`,
	}
	for name, tc := range map[string]struct {
		reason, labels, owner string
		patched               bool
	}{
		"Plain":     {reason: "it is one of ours", patched: true},
		"Skipped":   {reason: "it says no", labels: `,"system-components-config.resources.gardener.cloud/skip":"true"`},
		"DaemonSet": {reason: "it runs where its DaemonSet says", owner: `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"d"}]`},
		"OfSet":     {reason: "its Deployment says nothing", owner: `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"d","uid":"d"}]`, patched: true},
	} {
		got, err := s.ask(t, host, s.shoot, path, fmt.Sprintf(pods, tc.labels, tc.owner))
		if err != nil || strings.Contains(got, `"patch"`) != tc.patched {
			t.Errorf("%s: %s\nthe answer is %s, %v", name, tc.reason, got, err)
		}
		if !tc.patched {
			continue
		}
		if diff := cmp.Diff(changes, patchOf(t, got)); diff != "" {
			t.Errorf("%s: changes, which tolerate no taint that comes and goes (-want +got):\n%s", name, diff)
		}
	}
}

// patchOf is the patch in an answer: values by what is done at which path.
func patchOf(t *testing.T, answer string) map[string]string {
	t.Helper()
	review := admissionv1.AdmissionReview{}
	if err := json.Unmarshal([]byte(answer), &review); err != nil {
		t.Fatal(err)
	}
	var steps []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(review.Response.Patch, &steps); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range steps {
		found[s.Op+" "+s.Path] = string(s.Value)
	}
	return found
}
