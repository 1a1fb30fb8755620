// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestDefaultDomains tries to claim a domain below which the projects of others have shoots.
func TestDefaultDomains(t *testing.T) {
	t.Parallel()
	defaults := func(domains ...string) func(*gardencorev1beta1.Seed) {
		return func(s *gardencorev1beta1.Seed) {
			for _, d := range domains {
				s.Spec.DNS.Defaults = append(s.Spec.DNS.Defaults, gardencorev1beta1.SeedDNSProviderConfig{
					Type: "local", Domain: d, CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "dns"},
				})
			}
		}
	}
	secret := func(domain string) kind.Object {
		s := &corev1.Secret{ObjectMeta: named("garden", "dns")}
		s.Labels = map[string]string{"name.seed.gardener.cloud/north": "true"}
		if domain != "" {
			s.Annotations = map[string]string{"dns.gardener.cloud/domain": domain}
		}
		return s
	}
	template := func(name, domain string) *gardenseedmanagementv1alpha1.ManagedSeed {
		return managed(name, func(m *gardenseedmanagementv1alpha1.ManagedSeed) {
			m.Spec.Gardenlet.Config.Raw = bytes.Replace(m.Spec.Gardenlet.Config.Raw, []byte(`"dns":{`), []byte(`"dns":{"defaults":[{"type":"local","domain":"`+domain+
				`","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"dns"}}],`), 1)
		})
	}
	labelled := func(s *gardencorev1beta1.Seed) { s.Labels = map[string]string{"a": "b"} }
	own := []kind.Object{secret("north.example")}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SR-11 given domain":         {Reason: "an operator gives a domain with its credentials", Objects: own, Request: create(admissiontest.Seed("north", defaults("north.example")))},
		"GAC-SR-11 other domain":         {Reason: "credentials are for one domain", Objects: own, Request: create(admissiontest.Seed("north", defaults("victim.example"))), Refused: []string{"spec.dns.defaults", `"victim.example"`, "kubectl -n garden annotate secret dns dns.gardener.cloud/domain=victim.example"}},
		"GAC-SR-11 backup for a domain":  {Reason: "other credentials are for none", Objects: []kind.Object{secret("")}, Request: by(admissiontest.Seed("north", defaults("com")), admissiontest.Seed("north")), Refused: []string{"spec.dns.defaults", `"com"`}},
		"GAC-SR-11 second domain":        {Reason: "nor one more", Objects: own, Request: by(admissiontest.Seed("north", defaults("north.example", "com")), admissiontest.Seed("north", defaults("north.example"))), Refused: []string{`"com"`}},
		"GAC-SR-11 known domain":         {Reason: "what an operator wrote into the Seed stays", Objects: []kind.Object{secret("")}, Request: by(admissiontest.Seed("north", defaults("old.example"), labelled), admissiontest.Seed("north", defaults("old.example")))},
		"GAC-SR-11 domain of template":   {Reason: "an operator may give it in the ManagedSeed", Objects: []kind.Object{secret(""), template("north", "north.example")}, Request: create(admissiontest.Seed("north", defaults("north.example")))},
		"GAC-SR-11 other than template":  {Reason: "and no other there", Objects: []kind.Object{secret(""), template("north", "north.example")}, Request: create(admissiontest.Seed("north", defaults("com"))), Refused: []string{`"com"`}},
		"GAC-SAR-11 domain for template": {Reason: "a gardenlet gives none to the seeds that run on its seed", Objects: own, Request: by(template("nursery", "com"), template("nursery", "nursery.example")), Refused: []string{`"com"`}},
	})
}
