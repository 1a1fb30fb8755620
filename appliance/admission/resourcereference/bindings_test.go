// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// of sets the provider of a SecretBinding.
func of(provider string) func(*binding) {
	return func(b *binding) { b.Provider = &gardencorev1beta1.SecretBindingProvider{Type: provider} }
}

// TestSecretBindingInUse changes bindings under the shoots that use them.
func TestSecretBindingInUse(t *testing.T) {
	t.Parallel()
	formerly := admissiontest.Shoot(admissiontest.Formerly)
	beside := admissiontest.Shoot(func(s *shoot) { admissiontest.Formerly(s); s.Spec.SecretBindingName = new("beside") })
	modern := admissiontest.Shoot()
	none := func(b *binding) { b.Provider = nil }
	ask := func(now, old *binding) admissiontest.Request {
		r := admissiontest.Request{Object: now}
		if old != nil {
			r.Old = old
		}
		return r
	}
	case1 := func(reason string, user *shoot, r admissiontest.Request, refused ...string) admissiontest.Case {
		return admissiontest.Case{
			Reason: reason, Rights: []string{mayRead}, Foreign: []string{secret}, Objects: []kind.Object{user}, Request: r, Refused: refused,
		}
	}
	differs := `provider.type: shoot "sprout" uses the binding and is for provider "local", not "cloud"`
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-2 used":      case1("a binding is for the provider of its shoots", formerly, ask(admissiontest.Binding(of("cloud")), nil), differs),
		"API-RRM-2 later":     case1("also when it gets one", formerly, ask(admissiontest.Binding(of("cloud")), admissiontest.Binding(none)), differs),
		"API-RRM-2 suits":     case1("one that suits is welcome", formerly, ask(admissiontest.Binding(), nil)),
		"API-RRM-2 several":   case1("so are several", formerly, ask(admissiontest.Binding(of("cloud,local")), nil)),
		"API-RRM-2 beside":    case1("shoots with other bindings do not count", beside, ask(admissiontest.Binding(of("cloud")), nil)),
		"API-RRM-2 modern":    case1("nor do those with a CredentialsBinding of the same name", modern, ask(admissiontest.Binding(of("cloud")), nil)),
		"API-RRM-2 unchanged": case1("what stays is not looked at", formerly, ask(admissiontest.Binding(of("cloud")), admissiontest.Binding(of("cloud")))),
		"API-RRM-2 nobody's":  case1("a stored one may be without", formerly, ask(admissiontest.Binding(none), admissiontest.Binding(none))),
	})
}

// TestCredentialsBindingInUse does the same with the younger kind.
func TestCredentialsBindingInUse(t *testing.T) {
	t.Parallel()
	cloud := func(b *credentials) { b.Provider.Type = "cloud" }
	beside := admissiontest.Shoot(func(s *shoot) { s.Spec.CredentialsBindingName = new("beside") })
	formerly := admissiontest.Shoot(admissiontest.Formerly)
	create := func(reason string, user *shoot, change ...func(*credentials)) admissiontest.Case {
		return admissiontest.Case{
			Reason: reason, Rights: []string{mayRead}, Foreign: []string{secret}, Objects: []kind.Object{user},
			Request: admissiontest.Request{Object: credentialsOf("Secret", change...)},
		}
	}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-2 suits":    create("a binding that suits its shoots is welcome", admissiontest.Shoot()),
		"API-RRM-2 beside":   create("shoots with other bindings do not count", beside, cloud),
		"API-RRM-2 formerly": create("nor do those with a SecretBinding of the same name", formerly, cloud),
		"API-RRM-2 unchanged": {
			Reason: "what stays is not looked at", Objects: []kind.Object{admissiontest.Shoot()},
			Request: admissiontest.Request{Object: credentialsOf("Secret", cloud), Old: credentialsOf("Secret", cloud)},
		},
		"API-RRM-2 stranger": {
			Reason: "a user who is merely named like a namespace is not a shoot that is being connected", Foreign: []string{secret},
			Request: admissiontest.Request{Object: credentialsOf("Secret"), User: "garden-meadow:sprout"}, Refused: []string{"you may not read"},
		},
	})
}

// TestQuotasOfBindings gives bindings quotas.
func TestQuotasOfBindings(t *testing.T) {
	t.Parallel()
	names := []corev1.ObjectReference{{Namespace: "garden", Name: "a"}, {Namespace: "garden", Name: "b"}}
	limited := func(b *credentials) { b.Quotas = names }
	formerly := func(b *binding) { b.Quotas = names }
	rights := []string{mayRead, "rose get quotas garden/a", "rose get quotas garden/b"}
	same := []kind.Object{quota("a", "Project"), quota("b", "Project")}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-1 scopes": {
			Reason: "credentials have one quota for each scope", Rights: rights, Foreign: []string{secret},
			Objects: []kind.Object{quota("a", "Project"), quota("b", "Secret")}, Request: admissiontest.Request{Object: credentialsOf("Secret", limited)},
		},
		"API-RRM-1 same scope": {
			Reason: "and no more", Rights: rights, Foreign: []string{secret}, Objects: same,
			Request: admissiontest.Request{Object: credentialsOf("Secret", limited)}, Refused: []string{"quotas[1]", "same scope (project)"},
		},
		"API-RRM-1 hidden": {
			Reason: "who may not read a quota does not name it", Rights: rights[:2], Foreign: []string{secret}, Objects: same,
			Request: admissiontest.Request{Object: credentialsOf("Secret", limited)}, Refused: []string{`quotas[1]: you may not read Quota "garden/b"`},
		},
		"API-RRM-1 kept":     {Reason: "what stays is not looked at", Request: admissiontest.Request{Object: credentialsOf("Secret", limited), Old: credentialsOf("Secret", limited)}},
		"API-RRM-1 formerly": {Reason: "in whichever kind", Request: admissiontest.Request{Object: admissiontest.Binding(formerly), Old: admissiontest.Binding(formerly)}},
	})
}

// TestBindingOfShoot has shoots change their bindings.
func TestBindingOfShoot(t *testing.T) {
	t.Parallel()
	cloud := credentialsOf("Secret", func(b *credentials) { b.Name, b.Provider.Type = "cloud", "cloud" })
	moved := admissiontest.Shoot(func(s *shoot) { s.Spec.CredentialsBindingName = new("cloud") })
	named := func(name string) *shoot {
		return admissiontest.Shoot(func(s *shoot) {
			s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{SecretName: &name}}}
		})
	}
	configured := admissiontest.Shoot(func(s *shoot) { s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{} })
	have := []kind.Object{admissiontest.Credentials()}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-SVAL-17 changed": {
			Reason: "the next binding is for the provider of the shoot, too", Objects: append(have, cloud),
			Request: admissiontest.Request{Object: moved, Old: admissiontest.Shoot()}, Refused: []string{`is for provider "cloud", the shoot is for "local"`},
		},
		"API-RRM-3 formerly": {Reason: "the former names of DNS credentials exist", Objects: have, Request: admissiontest.Request{Object: named("gone")}, Refused: []string{`spec.dns.providers[0]: Secret "garden-meadow/gone" does not exist`}},
		"API-RRM-4 nothing":  {Reason: "an API server need not refer to anything", Objects: have, Request: admissiontest.Request{Object: configured}},
	})
}

func TestCreatorStays_API_RRM_5(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Credentials())
	by := func(name string) *shoot {
		return admissiontest.Shoot(func(s *shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, "gardener.cloud/created-by", name) })
	}
	now := by("bob")
	if err := g.Ask(resourcereference.New(g.World), admissiontest.Request{Object: now, Old: by("bob")}); err != nil {
		t.Fatal(err)
	}
	if got := now.Annotations["gardener.cloud/created-by"]; got != "bob" {
		t.Errorf("an update names %q as the creator of bob's shoot", got)
	}
}
