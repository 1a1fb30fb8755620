// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// withWebhooks runs a seed whose API server asks the resource manager.
func withWebhooks(t *testing.T) *stage {
	t.Helper()
	address := freeAddress(t)
	folder, bundle := t.TempDir(), []byte(nil)
	s := newStage(t, func(o *resourcemanager.Options) {
		o.WebhookAddress, o.WebhookCertificates = address, folder
	}, func(s *stage) { bundle = s.certificate(folder) })
	for _, object := range webhooks.Configuration(webhooks.Values{Name: "test", URL: "https://" + address, CA: bundle}) {
		s.create(object)
	}
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It ends at once.
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// TestPortsOfWebhooks: who reaches the port for shoots learns nothing about the seed there, whatever name and path he says.
func TestPortsOfWebhooks(t *testing.T) {
	t.Parallel()
	ofSeed, ofShoots, folder := "", "", t.TempDir()
	newStage(t, func(o *resourcemanager.Options) {
		// The seed runs by now: the fewer connections are made before the addresses are used, the fewer can take their ports.
		ofSeed, ofShoots = freeAddress(t), freeAddress(t)
		o.WebhookAddress, o.ShootWebhookAddress, o.WebhookCertificates = ofSeed, ofShoots, folder
	}, func(s *stage) { s.certificate(folder) })
	const ofSystem = "/webhooks/system-components-config"
	for name, tc := range map[string]struct {
		reason, address, path string
		want                  int
	}{
		"Seed":        {"the seed asks about workloads", ofSeed, "/webhooks/high-availability-config", http.StatusOK},
		"ShootAtSeed": {"what only shoots ask is elsewhere", ofSeed, ofSystem, http.StatusNotFound},
		"SeedAtShoot": {"what the seed asks is not here", ofShoots, "/webhooks/high-availability-config", http.StatusNotFound},
		"NoShoot":     {"nobody says which shoot it is", ofShoots, ofSystem, http.StatusMisdirectedRequest},
	} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}}
		harness.Eventually(t, name, func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+tc.address+tc.path, strings.NewReader("{}"))
			if err != nil {
				return err
			}
			answer, err := c.Do(request)
			if err != nil {
				return err
			}
			if err := answer.Body.Close(); err != nil || answer.StatusCode != tc.want {
				return errors.Join(fmt.Errorf("%s: got status %d, want %d", tc.reason, answer.StatusCode, tc.want), err)
			}
			return nil
		})
		c.CloseIdleConnections()
	}
}

// certificate writes a certificate for this machine into a folder and returns what verifies it.
func (s *stage) certificate(folder string) []byte {
	s.t.Helper()
	keys, err := secrets.Load(s.t.Context(), secrets.Config{Client: s.Client, Namespace: home, Identity: "test", Clock: clock.RealClock{}})
	if err != nil {
		s.t.Fatal(err)
	}
	authority, err := keys.CA(s.t.Context(), "ca-test")
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := keys.Certificate(s.t.Context(), secrets.CertificateSpec{Name: "webhooks", CA: authority, Usage: secrets.UsageServer, IPs: []string{"127.0.0.1"}})
	if err != nil {
		s.t.Fatal(err)
	}
	for name, data := range map[string][]byte{"tls.crt": made.Certificate, "tls.key": made.Key} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return authority.Bundle.PEM
}

// protected waits until the API server asks about deletions of an object, and fails the test if it is deleted.
func (s *stage) protected(what string, remove func(ctx context.Context) error) {
	s.t.Helper()
	s.eventually(what, func(ctx context.Context) error {
		err := remove(ctx)
		if err == nil {
			s.t.Fatalf("%s: it was deleted", what)
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "confirmation.gardener.cloud/deletion=true") {
			return err
		}
		return nil
	})
}

// TestDeletionProtection is about what is only deleted with a confirmation.
func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	s := withWebhooks(t)
	network := func(name string) *gardenextensionsv1alpha1.Network {
		n := &gardenextensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}}
		n.Spec.Type, n.Spec.PodCIDR, n.Spec.ServiceCIDR = "a", "10.0.0.0/16", "10.1.0.0/16"
		return n
	}
	one, two := network("one"), network("two")
	s.create(one, two)
	// The API server knows of the webhooks a moment after they are configured; until then, a request that changes nothing is sent.
	s.eventually("the API server asks", func(ctx context.Context) error {
		if err := s.Delete(ctx, one.DeepCopy(), client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Errorf("it does not: %w", err)
		}
		return nil
	})
	s.protected("GRM-WH-DEL-1: an extension object stays", func(ctx context.Context) error { return s.Delete(ctx, one.DeepCopy()) })
	s.protected("GRM-WH-DEL-2: a collection stays", func(ctx context.Context) error {
		return s.DeleteAllOf(ctx, &gardenextensionsv1alpha1.Network{}, client.InNamespace(home))
	})
	patch(t, s, one, `{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
	s.protected("GRM-WH-DEL-2: so does one in which one is not confirmed", func(ctx context.Context) error {
		return s.DeleteAllOf(ctx, &gardenextensionsv1alpha1.Network{}, client.InNamespace(home))
	})
	patch(t, s, two, `{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
	if err := s.DeleteAllOf(t.Context(), &gardenextensionsv1alpha1.Network{}, client.InNamespace(home)); err != nil {
		t.Errorf("GRM-WH-DEL-2: a collection of which all are confirmed: %v", err)
	}
	if err := s.Delete(t.Context(), network("three")); !apierrors.IsNotFound(err) {
		t.Errorf("GRM-WH-DEL-2: an object that does not exist: %v", err)
	}

	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: home}}
	cluster.Spec.CloudProfile.Raw, cluster.Spec.Shoot.Raw = []byte("{}"), []byte("{}")
	s.create(cluster)
	if err := s.Delete(t.Context(), cluster); err != nil {
		t.Errorf("GRM-WH-DEL-2: Clusters are not protected: %v", err)
	}

	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "workers.extensions.gardener.cloud"}}
	s.protected("GRM-WH-DEL-1: a definition stays", func(ctx context.Context) error { return s.Delete(ctx, definition.DeepCopy()) })
	patch(t, s, definition, `{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
	if err := s.Delete(t.Context(), definition); err != nil {
		t.Errorf("GRM-WH-DEL-1: a definition with a confirmation: %v", err)
	}
	checkEtcds(s)
	if err := s.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "nothing"}}); !apierrors.IsNotFound(err) {
		t.Errorf("other kinds are not asked about: %v", err)
	}
}

// checkEtcds looks at a definition without the label, whose objects are protected all the same (GAC-SEEDADM-3).
func checkEtcds(s *stage) {
	s.t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "etcds.druid.gardener.cloud"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "druid.gardener.cloud", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "etcds", Singular: "etcd", Kind: "Etcd", ListKind: "EtcdList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	s.create(definition)
	etcd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "main"}}
	etcd.SetGroupVersionKind(schema.GroupVersionKind{Group: "druid.gardener.cloud", Version: "v1alpha1", Kind: "Etcd"})
	s.eventually("the API server serves Etcds", func(ctx context.Context) error {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(etcd.GroupVersionKind())
		object.SetNamespace(etcd.Namespace)
		object.SetName(etcd.Name)
		return s.Create(ctx, object)
	})
	s.protected("GAC-SEEDADM-1: an Etcd stays", func(ctx context.Context) error { return s.Delete(ctx, etcd.DeepCopy()) })
	patch(s.t, s, etcd, `{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
	if err := s.Delete(s.t.Context(), etcd); err != nil {
		s.t.Errorf("GAC-SEEDADM-1: an Etcd with a confirmation: %v", err)
	}
	if err := s.Delete(s.t.Context(), definition); err != nil {
		s.t.Errorf("GAC-SEEDADM-3: a definition without the label: %v", err)
	}
}
