// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func domain(namespace, name string, annotations map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{"gardener.cloud/role": "default-domain"}, Annotations: annotations,
	}}
}

func TestAdoptDomains_GLET_REG_4(t *testing.T) {
	t.Parallel()
	const provider, name, zone, priority = "dns.gardener.cloud/provider", "dns.gardener.cloud/domain", "dns.gardener.cloud/zone", "dns.gardener.cloud/domain-default-priority"
	r := registrar(t,
		&gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}},
		domain("seed-one", "second", map[string]string{provider: "local", name: "b.example", zone: "z"}),
		domain("seed-one", "first", map[string]string{provider: "local", name: "a.example", priority: "5"}),
		domain("seed-one", "twice", map[string]string{provider: "local", name: "a.example"}),
		domain("seed-one", "nameless", map[string]string{provider: "local"}),
		domain("seed-two", "elsewhere", map[string]string{provider: "local", name: "c.example"}),
	)
	of := func() []gardencorev1beta1.SeedDNSProviderConfig {
		t.Helper()
		seed := &gardencorev1beta1.Seed{}
		if err := r.Garden.Get(t.Context(), client.ObjectKey{Name: "one"}, seed); err != nil {
			t.Fatal(err)
		}
		return seed.Spec.DNS.Defaults
	}
	secret := func(name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "seed-one", Name: name}
	}
	want := []gardencorev1beta1.SeedDNSProviderConfig{
		{Type: "local", Domain: "a.example", CredentialsRef: secret("first")}, {Type: "local", Domain: "b.example", Zone: new("z"), CredentialsRef: secret("second")},
	}
	if err := r.AdoptDomains(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, of()); diff != "" {
		t.Errorf("default domains (-want +got):\n%s", diff)
	}
	// A gardenlet that starts again registers its seed anew: shoots use the domains meanwhile, and the API lets nobody remove them.
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, of()); diff != "" {
		t.Errorf("after another registration (-want +got):\n%s", diff)
	}
	// What the configuration says counts.
	r.Template.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: "own.example"}}
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.AdoptDomains(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Template.Spec.DNS.Defaults, of()); diff != "" {
		t.Errorf("with domains in the configuration (-want +got):\n%s", diff)
	}
}
