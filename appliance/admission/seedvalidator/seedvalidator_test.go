// SPDX-License-Identifier: Apache-2.0

package seedvalidator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	seed  = gardencorev1beta1.Seed
	shoot = gardencorev1beta1.Shoot
)

func domain(name string) func(*seed) {
	return func(s *seed) {
		s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: name}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	bound := []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = new("a") })}
	left := []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName, s.Status.SeedName = new("b"), new("a") })}
	named := []kind.Object{admissiontest.Shoot(func(s *shoot) {
		s.Spec.SeedName, s.Spec.DNS = new("a"), &gardencorev1beta1.DNS{Domain: new("sprout.meadow.shoots.example")}
	})}
	preset := func(s *seed) {
		s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: "shoots.example"}}
	}
	claims := func(domain string) func(*seed) {
		return func(s *seed) {
			s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "local", Domain: domain}}
		}
	}
	hosted := func(s *seed) { s.Labels = map[string]string{"seed.gardener.cloud/self-hosted-shoot-cluster": "true"} }
	backed := func(s *seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &corev1.ObjectReference{
			APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden", Name: "backup",
		}}
	}
	identity := func(provider string) kind.Object {
		return &gardensecurityv1alpha1.WorkloadIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "backup"},
			Spec:       gardensecurityv1alpha1.WorkloadIdentitySpec{Audiences: []string{"x"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: provider}},
		}
	}
	common := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "default-domain", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/domain": "shoots.example", "dns.gardener.cloud/provider": "local"},
	}}
	oneZone := func(s *seed) { s.Spec.Provider.Zones = []string{"a"} }
	admissiontest.Run(t, seedvalidator.New, map[string]admissiontest.Case{
		"API-SEEDVAL-1 bound":     {Reason: "a seed with shoots stays", Objects: bound, Request: admissiontest.Request{Old: admissiontest.Seed("a")}, Refused: []string{"still runs shoots", "garden-meadow/sprout"}},
		"API-SEEDVAL-1 running":   {Reason: "also one that a shoot is leaving", Objects: left, Request: admissiontest.Request{Old: admissiontest.Seed("a")}, Refused: []string{"garden-meadow/sprout"}},
		"API-SEEDVAL-1 empty":     {Reason: "an empty one goes", Objects: bound, Request: admissiontest.Request{Old: admissiontest.Seed("c")}},
		"API-SEEDVAL-2 zones":     {Reason: "zones stay while shoots are there", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", oneZone), Old: admissiontest.Seed("a")}, Refused: []string{"spec.provider.zones", `zone "b"`, "garden-meadow/sprout"}},
		"API-SEEDVAL-2 no shoots": {Reason: "without shoots they may go", Request: admissiontest.Request{Object: admissiontest.Seed("a", oneZone), Old: admissiontest.Seed("a")}},
		"API-SEEDVAL-2 more":      {Reason: "more zones are welcome", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", oneZone)}},
		"API-SEEDVAL-2 domain":    {Reason: "the domain stays", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", domain("x.y")), Old: admissiontest.Seed("a", domain("x.z"))}, Refused: []string{"spec.dns.internal", `"x.z"`}},
		"API-SEEDVAL-2 none":      {Reason: "and does not vanish", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", domain("x.z"))}, Refused: []string{"spec.dns.internal"}},
		"API-SEEDVAL-2 default":   {Reason: "so does a default domain in use", Objects: named, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", preset)}, Refused: []string{"spec.dns.defaults", `"shoots.example"`, "garden-meadow/sprout"}},
		"API-SEEDVAL-2 garden's": {
			Reason: "so does one of the garden, which a seed with its own has not", Objects: append(named, common),
			Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("garden.example")), Old: admissiontest.Seed("a")},
			Refused: []string{"spec.dns.defaults", `"shoots.example"`, "garden-meadow/sprout"},
		},
		"API-SEEDVAL-2 taken over": {Reason: "unless that is among them", Objects: append(named, common), Request: admissiontest.Request{Object: admissiontest.Seed("a", preset), Old: admissiontest.Seed("a")}},
		"API-SEEDVAL-2 elsewhere":  {Reason: "shoots of other seeds do not count", Objects: append(named, common), Request: admissiontest.Request{Object: admissiontest.Seed("b", claims("garden.example")), Old: admissiontest.Seed("b")}},
		"API-SEEDVAL-2 unused":     {Reason: "one that nobody uses may go", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", preset)}},
		"API-SEEDVAL-2 label":      {Reason: "what hosts itself goes on", Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", hosted)}, Refused: []string{"seed.gardener.cloud/self-hosted-shoot-cluster"}},
		"API-SEEDVAL-2 identity":   {Reason: "an identity opens backups of its own provider", Objects: []kind.Object{identity("local")}, Request: admissiontest.Request{Object: admissiontest.Seed("a", backed)}},
		"API-SEEDVAL-2 other":      {Reason: "and no others", Objects: []kind.Object{identity("cloud")}, Request: admissiontest.Request{Object: admissiontest.Seed("a", backed)}, Refused: []string{"spec.backup.credentialsRef", `is for provider "cloud"`}},
		"API-SEEDVAL-2 nobody":     {Reason: "if it exists", Request: admissiontest.Request{Object: admissiontest.Seed("a", backed)}, Refused: []string{`WorkloadIdentity "garden/backup" does not exist`}},
		"API-DNS-4 com":            {Reason: "nobody shuts out all shoots with a domain that is their own", Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("com")), Old: admissiontest.Seed("a")}, Refused: []string{"spec.dns.defaults[0].domain", `"com"`}},
		"API-DNS-4 co.uk, new":     {Reason: "also not with a new seed", Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("co.uk"))}, Refused: []string{`"co.uk"`}},
		"API-DNS-4 one label":      {Reason: "nor with a name that nobody has registered yet", Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("garden"))}, Refused: []string{`"garden"`}},
		"API-DNS-4 below":          {Reason: "a domain of the operator is welcome", Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("garden.example"))}},
		"API-DNS-4 known":          {Reason: "one that is there stays", Request: admissiontest.Request{Object: admissiontest.Seed("a", claims("com"), hosted), Old: admissiontest.Seed("a", claims("com"))}},
		"API-SEEDVAL-2 first":      {Reason: "a first one is welcome", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", domain("x.z")), Old: admissiontest.Seed("a")}},
	})
}
