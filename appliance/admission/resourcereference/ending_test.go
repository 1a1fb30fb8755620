// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestEnding_API_FIN_1 begins to use objects that are being deleted: a finalizer of somebody else holds them, and not that of those who use them.
func TestEnding_API_FIN_1(t *testing.T) {
	t.Parallel()
	ends := func(m *metav1.ObjectMeta) {
		m.DeletionTimestamp, m.Finalizers = new(metav1.Now()), []string{"play/elsewhere"}
	}
	going := admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) { ends(&b.ObjectMeta) })
	former := admissiontest.Binding(func(b *binding) { ends(&b.ObjectMeta) })
	account := admissiontest.Secret("local", func(s *corev1.Secret) { ends(&s.ObjectMeta) })
	own := admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Name = "own"; ends(&p.ObjectMeta) })
	all := admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) { p.Name = "all"; ends(&p.ObjectMeta) })
	profile := func(kind, name string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.CloudProfileName, s.Spec.CloudProfile = nil, &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}
		}
	}
	names := func(s *shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: "local"}}}}
	}
	create := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change...)}
	}
	kept := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(append(change, func(s *shoot) { s.Labels = map[string]string{"a": "b"} })...), Old: admissiontest.Shoot(change...)}
	}
	have := []kind.Object{admissiontest.Credentials(), all, own}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"credentials":          {Reason: "nothing would keep the binding", Objects: []kind.Object{going}, Request: create(), Refused: []string{`spec.credentialsBindingName: CredentialsBinding "garden-meadow/local" is being deleted`}},
		"credentials, kept":    {Reason: "it is held for those who use it", Objects: []kind.Object{going}, Request: kept()},
		"former":               {Reason: "nor the former kind", Objects: []kind.Object{former}, Request: create(admissiontest.Formerly), Refused: []string{`spec.secretBindingName: SecretBinding "garden-meadow/local" is being deleted`}},
		"former, kept":         {Reason: "it is held as well", Objects: []kind.Object{former}, Request: kept(admissiontest.Formerly)},
		"profile":              {Reason: "nor a profile", Objects: have, Request: create(profile("CloudProfile", "all")), Refused: []string{`spec.cloudProfile: CloudProfile "all" is being deleted`}},
		"own profile":          {Reason: "nor one of the project", Objects: have, Request: create(profile("NamespacedCloudProfile", "own")), Refused: []string{`spec.cloudProfile: NamespacedCloudProfile "garden-meadow/own" is being deleted`}},
		"own profile, kept":    {Reason: "which is held too", Objects: have, Request: kept(profile("NamespacedCloudProfile", "own"))},
		"profile that is gone": {Reason: "another plugin says that there is none", Objects: have, Request: create(profile("CloudProfile", "none"))},
		"profile, unknown":     {Reason: "it may be going", Objects: have, Failing: "cloudprofiles", Request: create(profile("CloudProfile", "all"))},
		"names":                {Reason: "nor what makes its names", Objects: []kind.Object{admissiontest.Credentials(), account}, Request: create(names), Refused: []string{`spec.dns.providers[0]: Secret "garden-meadow/local" is being deleted`}},
		"account":              {Reason: "nor the account of a binding", Rights: []string{mayRead}, Objects: []kind.Object{account}, Request: admissiontest.Request{Object: admissiontest.Binding()}, Refused: []string{`secretRef: Secret "garden-meadow/local" is being deleted`}},
	})
}

// TestReadableLater_API_RRM_3 names a Secret first where a user need not be able to read it, and then where he must.
func TestReadableLater_API_RRM_3(t *testing.T) {
	t.Parallel()
	names := func(s *shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{SecretName: new("local")}}}
	}
	resource := func(s *shoot) {
		s.Spec.Resources = append(s.Spec.Resources, gardencorev1beta1.NamedResourceReference{
			Name: "r", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "local"},
		})
	}
	have := []kind.Object{admissiontest.Credentials()}
	change := func(now, before []func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(now...), Old: admissiontest.Shoot(before...)}
	}
	both := []func(*shoot){names, resource}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"later":     {Reason: "extensions would read it for him", Objects: have, Foreign: []string{secret}, Request: change(both, both[:1]), Refused: []string{"spec.resources[0]: you may not read Secret"}},
		"may read":  {Reason: "who may read it has it", Objects: have, Rights: []string{mayRead}, Foreign: []string{secret}, Request: change(both, both[:1])},
		"readable":  {Reason: "what was readable may be named elsewhere", Objects: have, Foreign: []string{secret}, Request: change(both, both[1:])},
		"unchanged": {Reason: "and what stays is not looked at", Objects: have, Foreign: []string{secret}, Request: change(both, both)},
	})
}
