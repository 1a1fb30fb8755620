// SPDX-License-Identifier: Apache-2.0

package shootconfig_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootconfig"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type server = gardencorev1beta1.KubeAPIServerConfig

const (
	policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
	jwt    = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: https://x.y, audiences: [a]}\n" +
		"  claimMappings: {username: {claim: sub, prefix: \"x:\"}}\n"
	webhook = `apiVersion: apiserver.config.k8s.io/v1
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
)

func shoot(change ...func(*server)) *gardencorev1beta1.Shoot {
	return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &server{}
		for _, c := range change {
			c(s.Spec.Kubernetes.KubeAPIServer)
		}
	})
}

func audited(s *server) {
	s.AuditConfig = &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "config"}}}
}

func authenticated(s *server) {
	s.StructuredAuthentication = &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "config"}
}

func authorized(names ...string) func(s *server) {
	return func(s *server) {
		s.StructuredAuthorization = &gardencorev1beta1.StructuredAuthorization{ConfigMapName: "config"}
		for _, name := range names {
			s.StructuredAuthorization.Kubeconfigs = append(s.StructuredAuthorization.Kubeconfigs,
				gardencorev1beta1.AuthorizerKubeconfigReference{AuthorizerName: name, SecretName: name})
		}
	}
}

// with is a garden that has one ConfigMap.
func with(key, content string, more ...kind.Object) []kind.Object {
	return append(more, admissiontest.ProjectNamespace(), admissiontest.ConfigMap("config", key, content))
}

func TestAuditPolicy(t *testing.T) {
	t.Parallel()
	const field = "spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef"
	newer := shoot(audited)
	newer.Spec.Kubernetes.Version = "1.37.0"
	going := shoot(audited)
	going.DeletionTimestamp = new(metav1.Now())
	created := admissiontest.Request{Object: shoot(audited)}
	admissiontest.Run(t, shootconfig.NewAuditPolicy, map[string]admissiontest.Case{
		"GAC-AUDIT-1 valid":     {Reason: "a policy is a policy", Objects: with("policy", policy), Request: created},
		"GAC-AUDIT-1 none":      {Reason: "most shoots have none", Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"GAC-AUDIT-1 missing":   {Reason: "it has to be there", Request: created, As: metav1.StatusReasonInvalid, Refused: []string{field, "garden-meadow/config"}},
		"GAC-AUDIT-1 key":       {Reason: "under its key", Objects: with("audit", policy), Request: created, As: metav1.StatusReasonInvalid, Refused: []string{field, `"policy"`}},
		"GAC-AUDIT-1 kind":      {Reason: "it has to be a policy", Objects: with("policy", jwt), Request: created, As: metav1.StatusReasonInvalid, Refused: []string{field}},
		"GAC-AUDIT-1 level":     {Reason: "a valid one", Objects: with("policy", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n"), Request: created, As: metav1.StatusReasonInvalid, Refused: []string{"Everything"}},
		"GAC-AUDIT-1 new":       {Reason: "an update can be the first to refer to it", Objects: with("policy", "x"), Request: admissiontest.Request{Object: shoot(audited), Old: shoot()}, As: metav1.StatusReasonInvalid, Refused: []string{field}},
		"GAC-AUDIT-1 unchanged": {Reason: "what was looked at is not looked at again", Objects: with("policy", "x"), Request: admissiontest.Request{Object: shoot(audited), Old: shoot(audited)}},
		"GAC-AUDIT-1 upgrade":   {Reason: "another version may read it otherwise", Objects: with("policy", "x"), Request: admissiontest.Request{Object: newer, Old: shoot(audited)}, As: metav1.StatusReasonInvalid, Refused: []string{field}},
		"GAC-AUDIT-1 deletion":  {Reason: "a shoot can always go", Objects: with("policy", "x"), Request: admissiontest.Request{Object: going, Old: shoot()}},
		"GAC-AUDIT-2 valid":     {Reason: "a policy may change", Objects: with("policy", "x", shoot(audited)), Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "policy", policy), Old: admissiontest.ConfigMap("config", "policy", "x")}},
		"GAC-AUDIT-2 invalid":   {Reason: "into a valid one", Objects: with("policy", policy, shoot(audited)), Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "policy", "x"), Old: admissiontest.ConfigMap("config", "policy", policy)}, As: metav1.StatusReasonInvalid, Refused: []string{"data[policy]", `"sprout"`}},
		"GAC-AUDIT-2 empty":     {Reason: "not into nothing", Objects: with("policy", policy, shoot(audited)), Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "other", "x"), Old: admissiontest.ConfigMap("config", "policy", policy)}, As: metav1.StatusReasonInvalid, Refused: []string{"data[policy]", `"sprout"`}},
		"GAC-AUDIT-2 unchanged": {Reason: "other keys are nobody's business", Objects: with("policy", "x", shoot(audited)), Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "policy", "x"), Old: admissiontest.ConfigMap("config", "policy", "x")}},
		"GAC-AUDIT-2 unused":    {Reason: "nor are other ConfigMaps", Objects: with("policy", policy, shoot()), Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "policy", "x"), Old: admissiontest.ConfigMap("config", "policy", policy)}},
	})
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	const field = "spec.kubernetes.kubeAPIServer.structuredAuthentication.configMapName"
	issuer := func(s *server) {
		s.ServiceAccountConfig = &gardencorev1beta1.ServiceAccountConfig{Issuer: new("https://x.y")}
	}
	accepted := func(s *server) {
		s.ServiceAccountConfig = &gardencorev1beta1.ServiceAccountConfig{AcceptedIssuers: []string{"https://x.y"}}
	}
	anonymous := func(s *server) { s.EnableAnonymousAuthentication = new(false) }
	managed := "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: \"https://g/projects/p/shoots/u/issuer\", audiences: [a]}\n" +
		"  claimMappings: {username: {claim: sub, prefix: \"x:\"}}\n"
	rules := func(n int, expression string) string {
		text := jwt + "  claimValidationRules:\n"
		for i := range n {
			text += "  - {expression: '" + fmt.Sprintf(expression, i) + "'}\n"
		}
		return text
	}
	refused := func(reason string, objects []kind.Object, r admissiontest.Request, says ...string) admissiontest.Case {
		return admissiontest.Case{Reason: reason, Objects: objects, Request: r, As: metav1.StatusReasonInvalid, Refused: append(says, field)}
	}
	create := func(change ...func(*server)) admissiontest.Request {
		return admissiontest.Request{Object: shoot(append(change, authenticated)...)}
	}
	admissiontest.Run(t, shootconfig.NewAuthentication, map[string]admissiontest.Case{
		"GAC-AUTHN-1 valid": {Reason: "an issuer can be added", Objects: with("config.yaml", jwt), Request: create()},
		"GAC-AUTHN-1 other": {Reason: "another issuer than the own", Objects: with("config.yaml", jwt), Request: create(func(s *server) {
			s.ServiceAccountConfig = &gardencorev1beta1.ServiceAccountConfig{Issuer: new("https://z")}
		})},
		"GAC-AUTHN-1 missing":   refused("it has to be there", nil, create()),
		"GAC-AUTHN-1 unknown":   refused("a slip is found", with("config.yaml", jwt+"jwts: []\n"), create(), "jwts"),
		"GAC-AUTHN-1 invalid":   refused("it has to be valid", with("config.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: \"http://x\"}}]\n"), create(), "issuer.url"),
		"GAC-AUTHN-1 issuer":    refused("the shoot's own issuer is trusted already", with("config.yaml", jwt), create(issuer), "https://x.y"),
		"GAC-AUTHN-1 accepted":  refused("and so are those it accepts", with("config.yaml", jwt), create(accepted), "https://x.y"),
		"GAC-AUTHN-1 later":     refused("also when they come later", with("config.yaml", jwt), admissiontest.Request{Object: shoot(authenticated, issuer), Old: shoot(authenticated)}, "https://x.y"),
		"GAC-AUTHN-1 managed":   refused("those that the garden serves belong to others", with("config.yaml", managed), create(), "the garden manages"),
		"GAC-AUTHN-1 anonymous": refused("one place says who may be nobody", with("config.yaml", jwt+"anonymous: {enabled: true}\n"), create(anonymous), "anonymous"),
		"GAC-AUTHN-1 too many":  refused("everybody can have it checked, so it is bounded", with("config.yaml", rules(201, `claims.a%d=="x"`)), create(), "201 expressions", "200"),
		"GAC-AUTHN-1 many":      {Reason: "within bounds that nobody needs to reach", Objects: with("config.yaml", rules(200, `claims.a%d=="x"`)), Request: create()},
		"GAC-AUTHN-1 long":      refused("an expression is no longer than it has to be", with("config.yaml", rules(1, "claims.a==%d"+strings.Repeat("||claims.a==1", 400))), create(), "4096"),
		"GAC-AUTHN-1 together":  refused("and all together neither", with("config.yaml", rules(12, "claims.a==%d"+strings.Repeat("||claims.a==1", 300))), create(), "32768"),
		"GAC-AUTHN-1 text":      refused("nor is the text", with("config.yaml", jwt+strings.Repeat("#", 256<<10)), create(), "262144"),
		"GAC-AUTHN-1 change": {
			Reason: "a ConfigMap in use stays valid", Objects: with("config.yaml", jwt, shoot(authenticated, issuer)),
			Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "config.yaml", jwt), Old: admissiontest.ConfigMap("config", "config.yaml", "")},
			As:      metav1.StatusReasonInvalid, Refused: []string{"data[config.yaml]", "https://x.y", `"sprout"`},
		},
	})
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	const field = "spec.kubernetes.kubeAPIServer.structuredAuthorization.configMapName"
	header := "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"
	file := "- type: Webhook\n  name: guard\n  webhook: {timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/passwd}}\n"
	cases := map[string]admissiontest.Case{}
	for name, tc := range map[string]struct {
		reason, content string
		names           []string
		says            []string
	}{
		"GAC-AUTHZ-1 valid":     {"a webhook can be added", webhook, []string{"guard"}, nil},
		"GAC-AUTHZ-1 type":      {"the others are there already", header + "- {type: RBAC, name: rbac}\n", []string{"rbac"}, []string{"authorizers[0].type"}},
		"GAC-AUTHZ-1 file":      {"files of the control plane are not read", header + file, []string{"guard"}, []string{"connectionInfo.type", "InClusterConfig"}},
		"GAC-AUTHZ-1 no secret": {"a webhook needs a kubeconfig", webhook, nil, []string{`no Secret with a kubeconfig for "guard"`}},
		"GAC-AUTHZ-1 no use":    {"and a kubeconfig a webhook", webhook, []string{"guard", "other"}, []string{`no authorizer "other"`}},
		"GAC-AUTHZ-1 garbage":   {"it has to be readable", "x", []string{"guard"}, []string{"decode"}},
		"GAC-AUTHZ-1 empty":     {"and to have an authorizer", header + "  []\n", nil, []string{"authorizers"}},
	} {
		c := admissiontest.Case{Reason: tc.reason, Objects: with("config.yaml", tc.content), Request: admissiontest.Request{Object: shoot(authorized(tc.names...))}}
		if tc.says != nil {
			c.As, c.Refused = metav1.StatusReasonInvalid, append(tc.says, field)
		}
		cases[name] = c
	}
	maps.Copy(cases, map[string]admissiontest.Case{
		"GAC-AUTHZ-1 new kubeconfig": {
			Reason: "a change of the kubeconfigs is looked at", Objects: with("config.yaml", webhook),
			Request: admissiontest.Request{Object: shoot(authorized("guard", "other")), Old: shoot(authorized("guard"))},
			As:      metav1.StatusReasonInvalid, Refused: []string{`no authorizer "other"`},
		},
		"GAC-AUTHZ-1 change": {
			Reason: "a ConfigMap in use stays valid", Objects: with("config.yaml", webhook, shoot(authorized("other"))),
			Request: admissiontest.Request{Object: admissiontest.ConfigMap("config", "config.yaml", webhook), Old: admissiontest.ConfigMap("config", "config.yaml", "")},
			As:      metav1.StatusReasonInvalid, Refused: []string{"data[config.yaml]", `"guard"`},
		},
	})
	admissiontest.Run(t, shootconfig.NewAuthorization, cases)
}

// FuzzConfigurations lets a project hand in texts as audit policy and as configuration of authenticators and authorizers.
// Whatever the text, it is taken or refused, and never an error of the server.
func FuzzConfigurations(f *testing.F) {
	for _, text := range []string{
		"", "{", "[]", "null", policy, jwt, webhook, "a: &a [*a]\n", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: 1}]\n",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: \"https://[\", audiences: [a]}\n" +
			"  claimValidationRules: [{expression: \"claims.a == \"}]\n",
	} {
		f.Add(text)
	}
	rules := []struct {
		key   string
		rule  func(*world.World) admission.Interface
		wants func(*server)
	}{
		{"policy", shootconfig.NewAuditPolicy, audited},
		{"config.yaml", shootconfig.NewAuthentication, authenticated},
		{"config.yaml", shootconfig.NewAuthorization, authorized("guard")},
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range rules {
			g := admissiontest.New(t, nil, with(r.key, text)...)
			if err := g.Ask(r.rule(g.World), admissiontest.Request{Object: shoot(r.wants)}); err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("%s: %v", r.key, err)
			}
		}
	})
}
