// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestValidateShootDNS(t *testing.T) {
	t.Parallel()
	type providers = []gardencorev1beta1.DNSProvider
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-4 whole": {
			reason: "a domain, a primary provider and another one",
			change: dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: providers{
				{Type: new("one"), Primary: new(true)}, {Type: new("one"), CredentialsRef: secret("a")},
			}}),
		},
		"API-VALSHOOT-4 domain": {
			reason: "a primary provider has a domain to look after",
			change: dns(gardencorev1beta1.DNS{Providers: providers{{Type: new("one"), Primary: new(true)}}}),
			want:   []string{"spec.dns.domain: FieldValueRequired"},
		},
		"API-VALSHOOT-4 unmanaged": {
			reason: "nobody needs no domain, and no credentials",
			change: dns(gardencorev1beta1.DNS{Providers: providers{{Type: new("unmanaged"), Primary: new(true), SecretName: new("a")}}}),
			want:   []string{"spec.dns.providers[0].credentialsRef: FieldValueInvalid"},
		},
		"API-VALSHOOT-4 primaries": {
			reason: "one of them only is the primary one",
			change: dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: providers{
				{Type: new("one"), Primary: new(true)}, {Type: new("two"), Primary: new(true)},
			}}),
			want: []string{"spec.dns.providers[1].primary: FieldValueForbidden"},
		},
		"API-VALSHOOT-4 secondary": {
			reason: "further providers are complete",
			change: dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: providers{{SecretName: new("a")}, {Type: new("one")}}}),
			want:   []string{"spec.dns.providers[0].type: FieldValueRequired", "spec.dns.providers[1].credentialsRef: FieldValueRequired"},
		},
		"API-VALSHOOT-4 twice": {
			reason: "however the credentials are named",
			change: dns(gardencorev1beta1.DNS{Providers: providers{{Type: new("one"), SecretName: new("a")}, {Type: new("one"), CredentialsRef: secret("a")}}}),
			want:   []string{"spec.dns.providers[1]: FieldValueInvalid"},
		},
		"API-VALSHOOT-4 name": {
			reason: "a domain is one", change: dns(gardencorev1beta1.DNS{Domain: new("a_b")}), want: []string{"spec.dns.domain: FieldValueInvalid"},
		},
		"API-VALSHOOT-4 unmanaged only": {
			reason: "who manages records himself names no credentials", change: dns(gardencorev1beta1.DNS{Providers: providers{{Type: new("unmanaged"), Primary: new(true)}}}),
		},
		"API-VALSHOOT-4 default": {
			reason: "a primary provider can be left to the server", change: dns(gardencorev1beta1.DNS{Providers: providers{{Primary: new(true)}}}),
		},
		"API-VALSHOOT-4 credentials": {
			reason: "credentials are of some type", change: dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: providers{{Primary: new(true), CredentialsRef: secret("a")}}}),
			want: []string{"spec.dns.providers[0].type: FieldValueRequired"},
		},
		"API-VALSHOOT-4 empty": {
			reason: "a further provider has both", change: dns(gardencorev1beta1.DNS{Providers: providers{{}}}),
			want: []string{"spec.dns.providers[0].credentialsRef: FieldValueRequired", "spec.dns.providers[0].type: FieldValueRequired"},
		},
		"API-SHOOTSTRAT-10 versions": {
			reason: "credentials are of a known kind, and of its version",
			change: dns(gardencorev1beta1.DNS{Providers: providers{
				{Type: new("one"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "v2", Kind: "Secret", Name: "a"}},
				{Type: new("one"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}},
				{Type: new("one"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: "a"}},
			}}),
			want: []string{"spec.dns.providers[0].credentialsRef.apiVersion: FieldValueNotSupported", "spec.dns.providers[1].credentialsRef.kind: FieldValueNotSupported"},
		},
		"API-SHOOTSTRAT-10 kind": {
			reason: "no Secret is a workload identity, be their names the same",
			change: dns(gardencorev1beta1.DNS{Providers: providers{{
				Type: new("one"), SecretName: new("a"),
				CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: "a"},
			}}}),
			want: []string{"spec.dns.providers[0].secretName: FieldValueForbidden"},
		},
		"API-SHOOTSTRAT-10": {
			reason: "both fields say the same",
			change: dns(gardencorev1beta1.DNS{Providers: providers{{Type: new("one"), SecretName: new("a"), CredentialsRef: secret("b")}}}),
			want:   []string{"spec.dns.providers[0].secretName: FieldValueForbidden"},
		},
	})
}
