// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const (
	someAuthentication = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: "https://login.example.com", audiences: [shoot]}
  claimMappings: {username: {claim: sub, prefix: "a:"}}
`
	someAuthorization = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: guard
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: InClusterConfig}
`
	somePolicy     = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
	someKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: hook, cluster: {server: "https://hook.example.com", certificate-authority-data: Y2VydHM=}}]
users: [{name: shoot, user: {token: very-secret}}]
contexts: [{name: hook, context: {cluster: hook, user: shoot, namespace: other}}]
current-context: hook
`
)

// having is an API server of a shoot with settings, for which its owner hands in files.
func having(handed facts.Handed, settings gardencorev1beta1.KubeAPIServerConfig) given {
	v := values()
	v.facts.Handed, v.facts.Shoot.Spec.Kubernetes.KubeAPIServer = handed, &settings
	return v
}

func plugin(name, config string) gardencorev1beta1.KubeAPIServerConfig {
	p := gardencorev1beta1.AdmissionPlugin{Name: name}
	if config != "" {
		p.Config = &runtime.RawExtension{Raw: []byte(config)}
	}
	return gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{p}}
}

func TestHanded(t *testing.T) {
	t.Parallel()
	settings := plugin("ImagePolicyWebhook", `{"imagePolicy":{"allowTTL":30,"kubeConfigFile":"/etc/shadow"}}`)
	settings.TLSMinVersion, settings.Logging = new("VersionTLS13"), &gardencorev1beta1.APIServerLogging{HTTPAccessVerbosity: new(int32(3))}
	v := having(facts.Handed{
		AuditPolicy: somePolicy, Authentication: someAuthentication, Authorization: someAuthorization,
		Authorizers: map[string][]byte{"guard": []byte(someKubeconfig)}, Plugins: map[string][]byte{"ImagePolicyWebhook": []byte(someKubeconfig)},
	}, settings)
	golden.Objects(t, "handed.yaml", render(t, v))
	if err := apiserver.Unusable(v.facts); err != nil {
		t.Errorf("what can be rendered can be used: %v", err)
	}
	for _, arg := range deployment(t, v).Spec.Template.Spec.Containers[0].Args {
		if strings.Contains(arg, "very-secret") {
			t.Error("a flag has a credential of the owner")
		}
	}
	if text := rendered[*corev1.ConfigMap](t, v).Data; strings.Contains(strings.Join(slices.Collect(maps.Values(text)), ""), "very-secret") {
		t.Error("the ConfigMap has a credential of the owner")
	}
}

// file is a configuration file of the server.
func file(t *testing.T, v given, key string) map[string]any {
	t.Helper()
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(rendered[*corev1.ConfigMap](t, v).Data[key]), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

func TestAnonymous(t *testing.T) {
	t.Parallel()
	health := []any{map[string]any{"path": "/healthz"}, map[string]any{"path": "/livez"}, map[string]any{"path": "/readyz"}}
	for name, tc := range map[string]struct {
		reason string
		given  string
		legacy *bool
		want   map[string]any
	}{
		"default":   {reason: "probes have no credentials", want: map[string]any{"enabled": true, "conditions": health}},
		"refused":   {reason: "the owner wants what is so already", legacy: new(false), want: map[string]any{"enabled": true, "conditions": health}},
		"wanted":    {reason: "the owner wants it", legacy: new(true), want: map[string]any{"enabled": true}},
		"inherited": {reason: "a configuration that says nothing of it leaves it to the field", given: someAuthentication, legacy: new(true), want: map[string]any{"enabled": true}},
		"all":       {reason: "the configuration wants it", given: someAuthentication + "anonymous: {enabled: true}\n", want: map[string]any{"enabled": true}},
		"none": {
			reason: "without the health of the server it would be restarted again and again", given: someAuthentication + "anonymous: {enabled: false}\n",
			want: map[string]any{"enabled": true, "conditions": health},
		},
		"some": {
			reason: "paths of the owner are joined by those of probes", given: someAuthentication + "anonymous: {enabled: true, conditions: [{path: /version}, {path: /livez}]}\n",
			want: map[string]any{"enabled": true, "conditions": []any{map[string]any{"path": "/version"}, health[1], health[0], health[2]}},
		},
	} {
		v := having(facts.Handed{Authentication: tc.given}, gardencorev1beta1.KubeAPIServerConfig{EnableAnonymousAuthentication: tc.legacy})
		if diff := cmp.Diff(tc.want, file(t, v, "authentication-config.yaml")["anonymous"]); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	const url = "https://login.example.com"
	username := func(claim, prefix string) map[string]any { return map[string]any{"claim": claim, "prefix": prefix} }
	config := func(change func(*gardencorev1beta1.OIDCConfig)) given {
		c := &gardencorev1beta1.OIDCConfig{IssuerURL: new(url), ClientID: new("shoot")}
		change(c)
		return having(facts.Handed{}, gardencorev1beta1.KubeAPIServerConfig{OIDCConfig: c})
	}
	jwt := func(v given) map[string]any {
		list, _ := file(t, v, "authentication-config.yaml")["jwt"].([]any)
		if len(list) == 0 {
			return nil
		}
		one, _ := list[0].(map[string]any)
		return one
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.OIDCConfig)
		want   map[string]any
	}{
		"default": {
			"users of an issuer are not those of another", func(*gardencorev1beta1.OIDCConfig) {},
			map[string]any{"username": username("sub", url+"#")},
		},
		"email":  {"an address is unique", func(c *gardencorev1beta1.OIDCConfig) { c.UsernameClaim = new("email") }, map[string]any{"username": username("email", "")}},
		"dash":   {"no prefix at all", func(c *gardencorev1beta1.OIDCConfig) { c.UsernamePrefix = new("-") }, map[string]any{"username": username("sub", "")}},
		"prefix": {"the owner's prefix", func(c *gardencorev1beta1.OIDCConfig) { c.UsernamePrefix = new("x:") }, map[string]any{"username": username("sub", "x:")}},
		"groups": {
			"with groups", func(c *gardencorev1beta1.OIDCConfig) { c.GroupsClaim, c.GroupsPrefix = new("groups"), new("g:") },
			map[string]any{"username": username("sub", url+"#"), "groups": username("groups", "g:")},
		},
	} {
		if diff := cmp.Diff(tc.want, jwt(config(tc.change))["claimMappings"]); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	whole := jwt(config(func(c *gardencorev1beta1.OIDCConfig) {
		c.CABundle, c.RequiredClaims = new("PEM"), map[string]string{"b": "2", "a": "1"}
	}))
	want := map[string]any{
		"issuer":               map[string]any{"url": url, "audiences": []any{"shoot"}, "certificateAuthority": "PEM"},
		"claimMappings":        map[string]any{"username": username("sub", url+"#")},
		"claimValidationRules": []any{map[string]any{"claim": "a", "requiredValue": "1"}, map[string]any{"claim": "b", "requiredValue": "2"}},
	}
	if diff := cmp.Diff(want, whole); diff != "" {
		t.Errorf("all of it (-want +got):\n%s", diff)
	}
	if none := jwt(config(func(c *gardencorev1beta1.OIDCConfig) { c.IssuerURL, c.ClientID = nil, nil })); none != nil {
		t.Errorf("without an issuer there is no authenticator: %v", none)
	}
}

// TestUnusable_GAC_KCFG_3: what an owner hands in must not make the server read files of its pod, run programs, or take another way. Each
// error is one that the owner can act upon, and quotes no content.
func TestUnusable_GAC_KCFG_3(t *testing.T) {
	t.Parallel()
	replaced := func(text, old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not there", old)
		}
		return strings.ReplaceAll(text, old, with)
	}
	authn := func(text string) given {
		return having(facts.Handed{Authentication: text}, gardencorev1beta1.KubeAPIServerConfig{})
	}
	authz := func(config, kubeconfig string) given {
		return having(facts.Handed{Authorization: config, Authorizers: map[string][]byte{"guard": []byte(kubeconfig)}}, gardencorev1beta1.KubeAPIServerConfig{})
	}
	user := func(fields string) given {
		return authz(someAuthorization, replaced(someKubeconfig, "token: very-secret", "password: very-secret, "+fields))
	}
	cluster := func(fields string) given {
		return authz(someAuthorization, replaced(someKubeconfig, `server: "https://hook.example.com"`, fields))
	}
	images := func(config string) given {
		return having(facts.Handed{Plugins: map[string][]byte{"ImagePolicyWebhook": []byte(someKubeconfig)}}, plugin("ImagePolicyWebhook", config))
	}
	for name, tc := range map[string]struct {
		given given
		want  string
	}{
		"no YAML":            {authn("{very-secret"), "structuredAuthentication.configMapName: the ConfigMap has no valid YAML"},
		"twice the same key": {authn(someAuthentication + "kind: AuthenticationConfiguration\n"), "no valid YAML"},
		"other kind":         {authn(replaced(someAuthentication, "AuthenticationConfiguration", "EgressSelectorConfiguration")), "must have an object of kind AuthenticationConfiguration of group apiserver.config.k8s.io"},
		"other group":        {having(facts.Handed{AuditPolicy: replaced(somePolicy, "audit.k8s.io", "audit.example.com")}, gardencorev1beta1.KubeAPIServerConfig{}), "auditConfig.auditPolicy.configMapRef: the ConfigMap must have an object of kind Policy of group audit.k8s.io"},
		"anonymous":          {authn(someAuthentication + "anonymous: yes\n"), "anonymous must be an object"},
		"conditions":         {authn(someAuthentication + "anonymous: {enabled: true, conditions: [a]}\n"), "conditions[0] must be an object"},
		"authorizers":        {authz(replaced(someAuthorization, "- type: Webhook", "  type: Webhook"), someKubeconfig), "authorizers must be a list"},
		"no webhook":         {authz(replaced(someAuthorization, "Webhook", "RBAC"), someKubeconfig), "authorizers[0].type must be Webhook"},
		"path":               {authz(replaced(someAuthorization, "type: InClusterConfig", "type: KubeConfigFile, kubeConfigFile: /srv/kubernetes/x"), someKubeconfig), "connectionInfo must have the type InClusterConfig and nothing else"},
		"path beside":        {authz(replaced(someAuthorization, "type: InClusterConfig", "type: InClusterConfig, kubeConfigFile: /srv/kubernetes/x"), someKubeconfig), "and nothing else"},
		"name of ours":       {authz(replaced(someAuthorization, "name: guard", "name: rbac"), someKubeconfig), "authorizers[0].name must be a name that no other authorizer has"},
		"no kubeconfig":      {having(facts.Handed{Authorization: someAuthorization}, gardencorev1beta1.KubeAPIServerConfig{}), `structuredAuthorization.kubeconfigs: there is no kubeconfig for authorizer "guard"`},
		"garbage":            {authz(someAuthorization, "{very-secret"), "is not a kubeconfig"},
		"token file":         {user("tokenFile: /srv/kubernetes/service-account/id_rsa"), "must not have tokenFile"},
		"certificate file":   {user("client-certificate: /srv/kubernetes/etcd/tls.crt, client-key: /srv/kubernetes/etcd/tls.key"), "must not have client-certificate, client-key"},
		"program":            {user("exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"), "must not have exec"},
		"somebody else":      {user("as: admin"), "must not have act-as"},
		"CA file":            {cluster(`server: "https://hook.example.com", certificate-authority: /srv/kubernetes/ca-client/bundle.crt`), "must not have certificate-authority"},
		"proxy":              {cluster(`server: "https://hook.example.com", proxy-url: "http://10.0.0.1"`), "must not have proxy-url"},
		"plain HTTP":         {cluster(`server: "http://169.254.169.254"`), "must have servers with https"},
		"socket":             {cluster(`server: "unix:///run/tunnel/server.socket"`), "must have servers with https"},
		"images without":     {having(facts.Handed{}, plugin("ImagePolicyWebhook", `{"imagePolicy":{"kubeConfigFile":"/etc/kubeconfig"}}`)), `plugin "ImagePolicyWebhook" needs a kubeconfig`},
		"images default":     {having(facts.Handed{}, plugin("ImagePolicyWebhook", "")), `plugin "ImagePolicyWebhook" needs a kubeconfig`},
		"images list":        {images(`[]`), "must be an object"},
		"images policy":      {images(`{"imagePolicy":"/etc"}`), "imagePolicy of plugin"},
		"config":             {images(`{`), "is not valid JSON"},
		"directory":          {having(facts.Handed{}, plugin("ValidatingAdmissionPolicy", `{"kind":"ValidatingAdmissionPolicyConfiguration","StaticManifestsDir":"/srv/kubernetes"}`)), "must not have staticManifestsDir"},
	} {
		err := apiserver.Unusable(tc.given.facts)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%s: got error %v, want one with %q", name, err, tc.want)
		}
		if !slices.Contains(operation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
			t.Errorf("%s: the owner does not learn that he has to act", name)
		}
		if _, rendering := apiserver.Component().Render(tc.given.facts, &tc.given.inputs); rendering == nil {
			t.Errorf("%s: it is rendered nevertheless", name)
		}
	}
}

// TestUnusableSize: what does not fit into one object of the seed would be an error of the seed, again and again.
func TestUnusableSize(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat("a", 500<<10)
	texts := facts.Handed{AuditPolicy: somePolicy + "x: " + padding + "\n", Authentication: someAuthentication, Plugins: map[string][]byte{"ImagePolicyWebhook": []byte(someKubeconfig)}}
	long := strings.ReplaceAll(someKubeconfig, "very-secret", padding)
	two := plugin("ImagePolicyWebhook", "")
	two.AdmissionPlugins = append(two.AdmissionPlugins, gardencorev1beta1.AdmissionPlugin{Name: "ValidatingAdmissionWebhook"})
	one := facts.Handed{Plugins: map[string][]byte{"ImagePolicyWebhook": []byte(long)}}
	both := facts.Handed{Plugins: map[string][]byte{"ImagePolicyWebhook": []byte(long), "ValidatingAdmissionWebhook": []byte(long)}}
	for _, handed := range []facts.Handed{texts, one} {
		if err := apiserver.Unusable(having(handed, two).facts); err != nil {
			t.Errorf("what fits is refused: %v", err)
		}
	}
	texts.Authentication += "y: " + padding + "\n"
	for _, handed := range []facts.Handed{texts, both} {
		err := apiserver.Unusable(having(handed, two).facts)
		if !slices.Contains(operation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
			t.Errorf("got error %v, want one that the owner can act upon", err)
		}
	}
}

// TestPluginsReadNoFilesOfTheirOwn: the only file of a plugin is the kubeconfig of the Secret. ImagePolicyWebhook reads fields in whatever
// case they are written, also when a letter only looks like that in lower case.
func TestPluginsReadNoFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	const path = "/srv/kubernetes/kubeconfigs/admission-"
	for name, tc := range map[string]struct {
		settings gardencorev1beta1.KubeAPIServerConfig
		without  bool
		want     any
	}{
		"images": {
			settings: plugin("ImagePolicyWebhook", `{"imagePolicy":{"kubeConfigFile":"/a","KubeConfigFile":"/b","kubeConfigfile":"/c","\u212aubeconfigfile":"/d","denyTTL":50}}`),
			want:     map[string]any{"imagePolicy": map[string]any{"kubeConfigFile": path + "imagepolicywebhook.yaml", "denyTTL": float64(50)}},
		},
		"images twice": {
			settings: plugin("ImagePolicyWebhook", `{"imagePolicy":{},"imagepolicy":{"kubeConfigFile":"/a"}}`),
			want:     map[string]any{"imagePolicy": map[string]any{"kubeConfigFile": path + "imagepolicywebhook.yaml"}},
		},
		"images default": {
			settings: plugin("ImagePolicyWebhook", ""), want: map[string]any{"imagePolicy": map[string]any{"kubeConfigFile": path + "imagepolicywebhook.yaml"}},
		},
		"webhooks": {
			settings: plugin("ValidatingAdmissionWebhook", `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"WebhookAdmissionConfiguration","kubeConfigFile":"/a"}`),
			want: map[string]any{
				"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": path + "validatingadmissionwebhook.yaml",
			},
		},
		"webhooks default": {
			settings: plugin("MutatingAdmissionWebhook", ""),
			want: map[string]any{
				"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": path + "mutatingadmissionwebhook.yaml",
			},
		},
		"webhooks without": {
			settings: plugin("ValidatingAdmissionWebhook", `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"WebhookAdmissionConfiguration","kubeConfigFile":"/a"}`), without: true,
			want: map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration"},
		},
	} {
		handed := facts.Handed{Plugins: map[string][]byte{}}
		if !tc.without {
			handed.Plugins[tc.settings.AdmissionPlugins[0].Name] = []byte(someKubeconfig)
		}
		plugins, _ := file(t, having(handed, tc.settings), "admission-configuration.yaml")["plugins"].([]any)
		if len(plugins) != 1 {
			t.Fatalf("%s: got %v", name, plugins)
		}
		if got, _ := plugins[0].(map[string]any); cmp.Diff(tc.want, got["configuration"]) != "" {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(tc.want, got["configuration"]))
		}
	}
}

// TestDeletionNeedsNoKubeconfig: a server that is deployed once more to clean up must start.
func TestDeletionNeedsNoKubeconfig(t *testing.T) {
	t.Parallel()
	v := having(facts.Handed{}, plugin("ImagePolicyWebhook", `{"imagePolicy":{}}`))
	v.facts.Shoot.DeletionTimestamp = &metav1.Time{}
	if args := deployment(t, v).Spec.Template.Spec.Containers[0].Args; slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "ImagePolicyWebhook") }) {
		t.Error("the plugin is enabled without its kubeconfig")
	}
}

// TestHandedFilesReplacePods: a server reads its kubeconfigs when it starts.
func TestHandedFilesReplacePods(t *testing.T) {
	t.Parallel()
	with := func(kubeconfig, authorization string) client.Object {
		v := having(facts.Handed{Authorization: authorization, Authorizers: map[string][]byte{"guard": []byte(kubeconfig)}}, gardencorev1beta1.KubeAPIServerConfig{})
		return deployment(t, v)
	}
	base := with(someKubeconfig, someAuthorization)
	for reason, other := range map[string]client.Object{
		"another token":   with(strings.ReplaceAll(someKubeconfig, "very-secret", "other"), someAuthorization),
		"another timeout": with(someKubeconfig, strings.ReplaceAll(someAuthorization, "3s", "4s")),
	} {
		if cmp.Equal(base, other) {
			t.Errorf("%s leaves the pods as they are", reason)
		}
	}
	if !cmp.Equal(base, with(someKubeconfig, someAuthorization)) {
		t.Error("the same files replace the pods")
	}
}
