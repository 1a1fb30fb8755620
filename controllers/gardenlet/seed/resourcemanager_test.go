// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

func TestResourceManager(t *testing.T) {
	t.Parallel()
	denied, err := reach.SeedNamespaces()
	if err != nil {
		t.Fatal(err)
	}
	options := seed.ResourceManagerOptions{Image: "registry.example.org/terrarium:v1", PolicyNamespaces: denied}
	for nodes, want := range map[int]int32{0: 1, 1: 1, 2: 2, 9: 2} {
		var deployment *appsv1.Deployment
		var kinds []string
		for _, object := range seed.ResourceManager(seed.ResourceManagerValues{ResourceManagerOptions: options, Nodes: nodes, Certificate: "cert", CA: []byte("ca")}) {
			if found, ok := object.(*appsv1.Deployment); ok {
				deployment = found
			}
			kinds = append(kinds, object.GetNamespace()+"/"+object.GetName())
		}
		if diff := cmp.Diff([]string{
			"/gardener.cloud:system:resource-manager", "garden/gardener-resource-manager", "garden/gardener-resource-manager",
			"garden/gardener-resource-manager", "/gardener-resource-manager", "/gardener-resource-manager",
		}, kinds); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
		if deployment == nil || *deployment.Spec.Replicas != want {
			t.Fatalf("%d nodes: got %+v, want %d replicas", nodes, deployment, want)
		}
		pod := deployment.Spec.Template.Spec
		if pod.Containers[0].Image != "registry.example.org/terrarium:v1" || pod.ServiceAccountName != "gardener-resource-manager" || !*pod.SecurityContext.RunAsNonRoot {
			t.Errorf("the pod is %+v", pod)
		}
		if limits := pod.Containers[0].Resources.Limits; len(limits) != 1 || limits.Memory().String() != "2Gi" {
			t.Errorf("what shoots answer may take all memory of the node, or work stops for want of CPU: %v", limits)
		}
		want := []string{
			"/usr/local/bin/terrarium", "resource-manager", "--lease-namespace=garden", "--cluster-id=<default>", "--health-address=:8081", "--metrics-address=:8080",
			"--webhook-address=:9450", "--shoot-webhook-address=:9449", "--webhook-certificates=/srv/kubernetes/webhooks", "--garbage-collector-sync-period=1h0m0s",
			"--network-policy-namespaces=kubernetes.io/metadata.name=garden", "--network-policy-namespaces=gardener.cloud/role in (extension,istio-ingress,istio-system,shoot)",
		}
		if diff := cmp.Diff(want, pod.Containers[0].Command); diff != "" {
			t.Errorf("command (-want +got):\n%s", diff)
		}
	}
}

// TestNodeTolerations: what the configuration of the gardenlet says reaches the resource manager. One that says nothing changes nothing there.
func TestNodeTolerations_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		given *gardenconfigv1alpha1.NodeToleration
		want  []string
	}{
		"Unset": {},
		"Empty": {given: &gardenconfigv1alpha1.NodeToleration{}},
		"One":   {given: &gardenconfigv1alpha1.NodeToleration{DefaultUnreachableTolerationSeconds: new(int64(0))}, want: []string{"--default-unreachable-toleration-seconds=0"}},
		"Both": {
			given: &gardenconfigv1alpha1.NodeToleration{DefaultNotReadyTolerationSeconds: new(int64(30)), DefaultUnreachableTolerationSeconds: new(int64(45))},
			want:  []string{"--default-not-ready-toleration-seconds=30", "--default-unreachable-toleration-seconds=45"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, object := range seed.ResourceManager(seed.ResourceManagerValues{ResourceManagerOptions: seed.ResourceManagerOptions{NodeToleration: tc.given}}) {
				deployment, ok := object.(*appsv1.Deployment)
				if !ok {
					continue
				}
				for _, flag := range deployment.Spec.Template.Spec.Containers[0].Command {
					if strings.Contains(flag, "toleration") {
						got = append(got, flag)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWebhooksOfTheSeedAreApart: API servers of shoots reach a port that answers for shoots only. The port for the seed is open to everyone
// who may leave his namespace for it, and no label of an API server of a shoot leads there.
func TestWebhooksOfTheSeedAreApart(t *testing.T) {
	t.Parallel()
	var service *corev1.Service
	for _, object := range seed.ResourceManager(seed.ResourceManagerValues{}) {
		if found, ok := object.(*corev1.Service); ok {
			service = found
		}
	}
	got := map[int32]string{}
	for _, port := range service.Spec.Ports {
		got[port.Port] = port.TargetPort.String()
	}
	if diff := cmp.Diff(map[int32]string{443: "9449", 8443: "seed-webhooks"}, got); diff != "" {
		t.Errorf("ports of the Service (-want +got):\n%s", diff)
	}
	if got, want := service.Annotations["networking.resources.gardener.cloud/from-world-to-ports"], `[{"protocol":"TCP","port":9450}]`; got != want {
		t.Errorf("open to all is %s, want %s", got, want)
	}
	for label := range reach.Labels("kube-apiserver") {
		if strings.Contains(label, "gardener-resource-manager") && !strings.HasSuffix(label, "-tcp-9449") {
			t.Errorf("API servers of shoots have the label %s", label)
		}
	}
}

// TestWebhookCertificates follows the certificate of the webhooks over a year. In each month, the API server has to trust what the pods
// served before, because they are replaced after it is told.
func TestWebhookCertificates(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(types).WithReturnManagedFields().Build()
	clk := clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	authorities, served := map[string]bool{}, []*x509.Certificate{}
	for range 12 {
		if err := seed.ApplyResourceManager(t.Context(), seed.Engine(c, clk), seed.ResourceManagerOptions{Image: "image"}); err != nil {
			t.Fatal(err)
		}
		bundle := trusted(t, c)
		now := serving(t, c)
		served = append(served, now)
		for _, certificate := range served[max(len(served)-2, 0):] {
			_, err := certificate.Verify(x509.VerifyOptions{Roots: bundle, CurrentTime: clk.Now(), DNSName: "gardener-resource-manager.garden.svc"})
			if err != nil {
				t.Errorf("%s: the certificate until %s is not trusted: %v", clk.Now(), certificate.NotAfter, err)
			}
		}
		authorities[string(now.AuthorityKeyId)] = true
		clk.Step(30 * 24 * time.Hour)
	}
	if len(authorities) < 4 || len(authorities) > 5 {
		t.Errorf("in a year %d authorities have signed, want one in each period of 90 days", len(authorities))
	}
	secrets := &corev1.SecretList{}
	if err := c.List(t.Context(), secrets); err != nil || len(secrets.Items) != 4 {
		t.Errorf("got %d Secrets, %v, want two authorities, their bundle and a certificate", len(secrets.Items), err)
	}
}

// trusted is what both configurations of the webhooks tell the API server to trust.
func trusted(t *testing.T, c client.Client) *x509.CertPool {
	t.Helper()
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	key := client.ObjectKey{Name: "gardener-resource-manager"}
	if err := c.Get(t.Context(), key, validating); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, mutating); err != nil {
		t.Fatal(err)
	}
	bundle := validating.Webhooks[0].ClientConfig.CABundle
	for _, asked := range mutating.Webhooks {
		if service := asked.ClientConfig.Service; string(asked.ClientConfig.CABundle) != string(bundle) || service.Namespace != "garden" || *service.Port != 8443 {
			t.Errorf("webhook %q is asked at %+v", asked.Name, asked.ClientConfig)
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		t.Fatal("the bundle holds no certificate")
	}
	return pool
}

// serving is the certificate that new pods serve.
func serving(t *testing.T, c client.Client) *x509.Certificate {
	t.Helper()
	deployment, secret := &appsv1.Deployment{}, &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardener-resource-manager"}, deployment); err != nil {
		t.Fatal(err)
	}
	source := deployment.Spec.Template.Spec.Volumes[0].Projected.Sources[0].Secret
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: source.Name}, secret); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(secret.Data[source.Items[0].Key], secret.Data[source.Items[1].Key])
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}
