// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/extension/webhook"
)

// keeper keeps the webhooks of a set in a pretended seed.
func keeper(t *testing.T, set webhook.Set, objects ...client.Object) *webhook.Keeper {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-demo", UID: "u"}})
	return &webhook.Keeper{
		Set: set, Client: fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build(),
		Home: webhook.Home{Namespace: "extension-demo", Service: "demo"}, Clock: clocktesting.NewFakeClock(time.Unix(1.8e9, 0)),
	}
}

// TestSelectors_EXT_WH_1_3 is about the labels that restrict a webhook, of each kind.
func TestSelectors_EXT_WH_1_3(t *testing.T) {
	t.Parallel()
	hook := func(name string, kind webhook.Kind, change func(*webhook.Webhook)) webhook.Webhook {
		w := deployments(unchanged)
		w.Name, w.Kind = name, kind
		if change != nil {
			change(&w)
		}
		return w
	}
	k := keeper(t, webhook.Set{Extension: "provider-demo", Seed: []webhook.Webhook{
		hook("a", webhook.KindShoot, func(w *webhook.Webhook) {
			w.Objects = []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &appsv1.StatefulSet{}, &gardenextensionsv1alpha1.OperatingSystemConfig{}}
		}),
		hook("b", webhook.KindSeed, nil), hook("c", webhook.KindBackup, nil),
		hook("d", webhook.KindNetwork, func(w *webhook.Webhook) { w.Network = "mesh" }),
		hook("e", webhook.KindShoot, func(w *webhook.Webhook) {
			w.Objects, w.Selector = []client.Object{&corev1.Secret{}}, webhook.CloudProvider()
		}),
	}})
	if err := k.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := k.Client.Get(t.Context(), client.ObjectKey{Name: "gardener-extension-provider-demo"}, c); err != nil {
		t.Fatal(err)
	}
	type selected struct {
		Namespaces, Objects map[string]string
		Resources           []string
	}
	got := map[string]selected{}
	for _, w := range c.Webhooks {
		s := selected{Namespaces: w.NamespaceSelector.MatchLabels, Objects: w.ObjectSelector.MatchLabels}
		for _, rule := range w.Rules {
			for _, resource := range rule.Resources {
				s.Resources = append(s.Resources, rule.APIGroups[0]+"/"+rule.APIVersions[0]+"/"+resource)
			}
		}
		got[w.Name] = s
		if ref := w.ClientConfig.Service; ref == nil || ref.Namespace != "extension-demo" || ref.Name != "demo" || *ref.Port != webhook.SeedPort {
			t.Errorf("webhook %q is asked at %+v", w.Name, w.ClientConfig)
		}
	}
	marked, apps := map[string]string{"provider.extensions.gardener.cloud/mutated-by-controlplane-webhook": "true"}, []string{"apps/v1/deployments"}
	want := map[string]selected{
		"a.demo.extensions.gardener.cloud": {map[string]string{"shoot.gardener.cloud/provider": "demo"}, marked, []string{
			"apps/v1/deployments", "apps/v1/statefulsets", "/v1/services", "extensions.gardener.cloud/v1alpha1/operatingsystemconfigs",
		}},
		"b.demo.extensions.gardener.cloud": {map[string]string{"seed.gardener.cloud/provider": "demo"}, marked, apps},
		"c.demo.extensions.gardener.cloud": {map[string]string{"backup.gardener.cloud/provider": "demo"}, marked, apps},
		"d.demo.extensions.gardener.cloud": {map[string]string{"shoot.gardener.cloud/provider": "demo", "networking.shoot.gardener.cloud/provider": "mesh"}, marked, apps},
		"e.demo.extensions.gardener.cloud": {map[string]string{"shoot.gardener.cloud/provider": "demo"}, map[string]string{"gardener.cloud/purpose": "cloudprovider"}, []string{"/v1/secrets"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the webhooks are asked about (-want +got):\n%s", diff)
	}
}

// TestEarlierWebhooksGo is about a version of an extension that has no webhooks in the seed any more.
func TestEarlierWebhooksGo_EXT_WH_5(t *testing.T) {
	t.Parallel()
	k := keeper(t, webhook.Set{Extension: "provider-demo", Seed: []webhook.Webhook{deployments(unchanged)}})
	for _, want := range []int{1, 0, 0} {
		if want == 0 {
			k.Set.Seed = nil
		}
		if err := k.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		list := &admissionregistrationv1.MutatingWebhookConfigurationList{}
		if err := k.Client.List(t.Context(), list); err != nil || len(list.Items) != want {
			t.Errorf("there are %d configurations, want %d, error %v", len(list.Items), want, err)
		}
	}
}

// TestShootsAreNotBroughtBack removes the webhooks from one shoot and not from another: the next look at the certificates is about the
// latter only.
func TestShootsAreNotBroughtBack_EXT_WH_6(t *testing.T) {
	t.Parallel()
	k := keeper(t, webhook.Set{Extension: "provider-demo", Shoot: []webhook.Webhook{{Name: "system", Objects: []client.Object{&corev1.ConfigMap{}}, Mutate: unchanged}}},
		// The label alone makes nothing a set of the extension.
		&gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "foreign", Labels: map[string]string{"extensions.gardener.cloud/webhooks-of": "provider-demo"}}})
	if err := k.Register(t.Context(), "a"); err == nil {
		t.Error("webhooks are registered before there is a certificate")
	}
	if err := k.Ready(nil); err == nil {
		t.Error("the process is ready before there is a certificate")
	}
	if err := k.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.Ready(nil), k.Register(t.Context(), "a"), k.Register(t.Context(), "b")); err != nil {
		t.Fatal(err)
	}
	if gone, err := k.Unregister(t.Context(), "a", false); err != nil || !gone {
		t.Fatalf("Unregister(...) = %t, %v", gone, err)
	}
	before := &corev1.Secret{}
	key := client.ObjectKey{Namespace: "b", Name: "managedresource-extension-provider-demo-shoot-webhooks"}
	if err := k.Client.Get(t.Context(), key, before); err != nil {
		t.Fatal(err)
	}
	clk, _ := k.Clock.(*clocktesting.FakeClock)
	clk.Step(21 * 24 * time.Hour)
	if err := k.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := &corev1.Secret{}
	if err := k.Client.Get(t.Context(), key, after); err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(before.Data, after.Data) {
		t.Error("EXT-WH-6: the new authority is not brought to a shoot")
	}
	list := &corev1.SecretList{}
	if err := k.Client.List(t.Context(), list, client.InNamespace("a")); err != nil || len(list.Items) > 0 {
		t.Errorf("%d Secrets are back in the shoot that was left, error %v", len(list.Items), err)
	}
}
