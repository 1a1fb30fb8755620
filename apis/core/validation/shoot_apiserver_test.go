// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestFacts reads the lists of facts about Kubernetes: the code relies on their columns.
func TestFacts(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{
		"featuregates.txt":     `^\S+ \d+ (-|\d+) (- -|\d+ (true|false))$`,
		"apigroups.txt":        `^\S+ \d+ (-|\d+)$`,
		"admissionplugins.txt": `^\S+ \d+ (-|\d+)( required)?( config)?( kubeconfig)?$`,
	} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		line := regexp.MustCompile(form)
		for text := range strings.Lines(string(raw)) {
			if !line.MatchString(strings.TrimSuffix(text, "\n")) {
				t.Errorf("%s: line %q does not have the form %s", name, text, form)
			}
		}
	}
}

func TestValidateFacts(t *testing.T) {
	t.Parallel()
	const server, gates = "spec.kubernetes.kubeAPIServer.", "spec.kubernetes.kubelet.featureGates."
	gate := func(version string, names ...string) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version = version
			s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubernetesConfig: gated(names...)}
		}
	}
	served := func(version string, config map[string]bool) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version = version
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{RuntimeConfig: config}
		}
	}
	plugged := func(version string, all ...gardencorev1beta1.AdmissionPlugin) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version = version
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: all}
		}
	}
	security := func(config string) gardencorev1beta1.AdmissionPlugin {
		return gardencorev1beta1.AdmissionPlugin{Name: "PodSecurity", Config: &runtime.RawExtension{Raw: []byte(config)}}
	}
	const noVersion, config = "spec.kubernetes.version: FieldValueInvalid", server + "admissionPlugins[0].config: FieldValueInvalid"
	checkShoots(t, map[string]shootCase{
		"API-VALSHOOT-16 gate not yet locked": {reason: "a gate that a later version locks can be turned off", change: gate("1.33.1", "NodeSwap=false")},
		"API-VALSHOOT-16 gate of later": {
			reason: "a version before the known ones does not have the gates of later ones", change: gate("1.30.1", "EnvFiles"),
			want: []string{gates + "EnvFiles: FieldValueForbidden"},
		},
		"API-VALSHOOT-16 gate with more": {
			reason: "the name of a gate is one word", change: gate("1.36.3", "EnvFiles 34"), want: []string{gates + "EnvFiles 34: FieldValueInvalid"},
		},
		"API-VALSHOOT-16 gate of no version": {
			reason: "gates of no version cannot be judged", change: gate("1.36", "EnvFiles", "AppArmor", "Nonsense"), want: []string{noVersion},
		},
		"API-VALSHOOT-16 API of no version": {
			reason: "nor can APIs", change: served("1.36", map[string]bool{"resource.k8s.io/v1": true, "example.org/v1": true}), want: []string{noVersion},
		},
		"API-VALSHOOT-16 API of other versions": {
			reason: "of versions that are not known nothing is said", change: served("1.37.0", map[string]bool{"example.org/v1": true}),
		},
		"API-VALSHOOT-16 plugin of no version": {
			reason: "plugins of no version cannot be judged", change: plugged("1.36", gardencorev1beta1.AdmissionPlugin{Name: "JobValidation"}), want: []string{noVersion},
		},
		"API-VALSHOOT-16 plugin of other versions": {
			reason: "a newer version may have other plugins", change: plugged("1.37.0", gardencorev1beta1.AdmissionPlugin{Name: "Nonsense"}),
		},
		"API-VALSHOOT-16 plugin off": {
			reason: "a plugin that is not required can be disabled", change: plugged("1.36.3", gardencorev1beta1.AdmissionPlugin{Name: "PodNodeSelector", Disabled: new(true)}),
		},
		"API-VALSHOOT-16 plugin without configuration": {
			reason: "an empty configuration is none", change: plugged("1.36.3", gardencorev1beta1.AdmissionPlugin{Name: "AlwaysAdmit", Config: &runtime.RawExtension{}}),
		},
		"PodSecurity in YAML": {
			reason: "a configuration can be YAML",
			change: plugged("1.36.3", security("apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n")),
		},
		"PodSecurity in parts": {
			reason: "all of it has to be readable", want: []string{config},
			change: plugged("1.36.3", security(`{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","exemptions":{"namespaces":"a"}}`)),
		},
		"PodSecurity version": {
			reason: "the version is one that is read", want: []string{config},
			change: plugged("1.36.3", security(`{"apiVersion":"pod-security.admission.config.k8s.io/v2","kind":"PodSecurityConfiguration"}`)),
		},
		"PodSecurity group": {
			reason: "of the group", want: []string{config}, change: plugged("1.36.3", security(`{"apiVersion":"v1","kind":"PodSecurityConfiguration"}`)),
		},
	})
}

func TestValidateAPIServer(t *testing.T) {
	t.Parallel()
	const server = "spec.kubernetes.kubeAPIServer."
	type config = gardencorev1beta1.KubeAPIServerConfig
	issued := func(s gardencorev1beta1.ServiceAccountConfig) shootChange {
		return apiServer(config{ServiceAccountConfig: &s})
	}
	openID := func(o gardencorev1beta1.OIDCConfig) shootChange { return apiServer(config{OIDCConfig: &o}) }
	authorized := func(s gardencorev1beta1.StructuredAuthorization, gates ...string) shootChange {
		return func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Kubernetes.Version = "1.31.1"
			shoot.Spec.Kubernetes.KubeAPIServer = &config{KubernetesConfig: gated(gates...), StructuredAuthorization: &s}
		}
	}
	kubeconfigs := func(all ...string) []gardencorev1beta1.AuthorizerKubeconfigReference {
		list := make([]gardencorev1beta1.AuthorizerKubeconfigReference, 0, len(all))
		for _, name := range all {
			list = append(list, gardencorev1beta1.AuthorizerKubeconfigReference{AuthorizerName: name, SecretName: name})
		}
		return list
	}
	cached := func(all ...gardencorev1beta1.ResourceWatchCacheSize) shootChange {
		return apiServer(config{WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Resources: all}})
	}
	const issuer, oidc, structured = server + "serviceAccountConfig.", server + "oidcConfig", server + "structuredAuthorization"
	checkShoots(t, map[string]shootCase{
		"logging": {
			reason: "verbosities are not negative",
			change: apiServer(config{Logging: &gardencorev1beta1.APIServerLogging{Verbosity: new(int32(-1)), HTTPAccessVerbosity: new(int32(-1))}}),
			want:   []string{server + "logging.httpAccessVerbosity: FieldValueInvalid", server + "logging.verbosity: FieldValueInvalid"},
		},
		"API-VALSHOOT-16 negative": {
			reason: "the life of a token is not negative", change: issued(gardencorev1beta1.ServiceAccountConfig{MaxTokenExpiration: lasting(-time.Hour)}),
			want: []string{issuer + "maxTokenExpiration: FieldValueInvalid"},
		},
		"API-VALSHOOT-16 audit": {
			reason: "the policy of the audit log can be left out", change: apiServer(config{AuditConfig: &gardencorev1beta1.AuditConfig{}}),
		},
		"API-VALSHOOT-16 audit policy": {
			reason: "so can its reference", change: apiServer(config{AuditConfig: &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{}}}),
		},
		"API-VALSHOOT-16 audit name": {
			reason: "but not its name",
			change: apiServer(config{AuditConfig: &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Namespace: "garden-meadow"}}}}),
			want:   []string{server + "auditConfig.auditPolicy.configMapRef.name: FieldValueRequired"},
		},
		"API-VALSHOOT-16 accepted": {
			reason: "issuers can be accepted beside the default one", change: issued(gardencorev1beta1.ServiceAccountConfig{AcceptedIssuers: []string{"https://a.example.org"}}),
		},
		"issuers": {
			reason: "an issuer has a host, and neither user nor fragment",
			change: issued(gardencorev1beta1.ServiceAccountConfig{AcceptedIssuers: []string{"https:///a", "https://me@a.example.org", "https://a.example.org#f", "https://[::1"}}),
			want: []string{
				issuer + "acceptedIssuers[0]: FieldValueInvalid", issuer + "acceptedIssuers[1]: FieldValueInvalid", issuer + "acceptedIssuers[2]: FieldValueInvalid",
				issuer + "acceptedIssuers[3]: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-16 caches": {
			reason: "caches are for resources in lower case, and their groups",
			change: cached(
				gardencorev1beta1.ResourceWatchCacheSize{Resource: "deployments", APIGroup: new("apps"), Size: 1},
				gardencorev1beta1.ResourceWatchCacheSize{Resource: "Pods"}, gardencorev1beta1.ResourceWatchCacheSize{Resource: "pods.v1"},
				gardencorev1beta1.ResourceWatchCacheSize{Resource: "pods", APIGroup: new("a,b")},
			),
			want: []string{
				server + "watchCacheSizes.resources[1].resource: FieldValueInvalid", server + "watchCacheSizes.resources[2].resource: FieldValueInvalid",
				server + "watchCacheSizes.resources[3].apiGroup: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-22 not resources": {
			reason: "what the API does not serve cannot be encrypted",
			change: apiServer(config{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: []string{"apiserveripinfo", "servicenodeportallocations"}}}),
			want:   []string{server + "encryptionConfig.resources[0]: FieldValueInvalid", server + "encryptionConfig.resources[1]: FieldValueInvalid"},
		},
		"authentication twice": {
			reason: "authentication is configured in one way",
			change: apiServer(config{StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "a"}, OIDCConfig: &gardencorev1beta1.OIDCConfig{}}),
			want:   []string{oidc + ": FieldValueForbidden"},
		},
		"authorization": {
			reason: "authorizers are named, with a Secret each",
			change: authorized(gardencorev1beta1.StructuredAuthorization{ConfigMapName: "a", Kubeconfigs: kubeconfigs("a", "b")}, "StructuredAuthorizationConfiguration"),
		},
		"authorization lists": {
			reason: "each once",
			change: authorized(gardencorev1beta1.StructuredAuthorization{ConfigMapName: "a", Kubeconfigs: kubeconfigs("a", "a", "")}),
			want: []string{
				structured + ".kubeconfigs[1]: FieldValueDuplicate", structured + ".kubeconfigs[2].authorizerName: FieldValueRequired",
				structured + ".kubeconfigs[2].secretName: FieldValueRequired",
			},
		},
		"authorization unnamed": {
			reason: "without a configuration there are no authorizers", change: authorized(gardencorev1beta1.StructuredAuthorization{}),
			want: []string{structured + ".configMapName: FieldValueForbidden"},
		},
		"authorization off": {
			reason: "its feature gate is not disabled",
			change: authorized(gardencorev1beta1.StructuredAuthorization{ConfigMapName: "a", Kubeconfigs: kubeconfigs("a")}, "StructuredAuthorizationConfiguration=false"),
			want:   []string{structured + ": FieldValueForbidden"},
		},
		"OIDC":      {reason: "an issuer has a client", change: openID(gardencorev1beta1.OIDCConfig{IssuerURL: new("https://a.example.org"), ClientID: new("a")})},
		"OIDC none": {reason: "or there is neither", change: openID(gardencorev1beta1.OIDCConfig{})},
		"OIDC client": {
			reason: "the client alone is not enough", change: openID(gardencorev1beta1.OIDCConfig{ClientID: new("a")}), want: []string{oidc + ": FieldValueRequired"},
		},
		"OIDC issuer": {
			reason: "nor is the issuer", change: openID(gardencorev1beta1.OIDCConfig{IssuerURL: new("https://a.example.org")}), want: []string{oidc + ": FieldValueRequired"},
		},
		"OIDC scheme": {
			reason: "the issuer is found by https", change: openID(gardencorev1beta1.OIDCConfig{IssuerURL: new("http://a.example.org"), ClientID: new("a")}),
			want: []string{oidc + ".issuerURL: FieldValueInvalid"},
		},
		"OIDC host": {
			reason: "on some host", change: openID(gardencorev1beta1.OIDCConfig{IssuerURL: new("https:///a"), ClientID: new("a")}),
			want: []string{oidc + ".issuerURL: FieldValueInvalid"},
		},
		"OIDC form": {
			reason: "by a URL", change: openID(gardencorev1beta1.OIDCConfig{IssuerURL: new("https://[::1"), ClientID: new("a")}),
			want: []string{oidc + ".issuerURL: FieldValueInvalid"},
		},
	})
}
