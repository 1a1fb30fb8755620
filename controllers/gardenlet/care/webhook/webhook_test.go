// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care/webhook"
)

type (
	configuration = admissionregistrationv1.ValidatingWebhookConfiguration
	change        = func(*admissionregistrationv1.ValidatingWebhook)
)

// hooked is a configuration with one webhook that is called for all pods, fails closed, and may take 10 seconds.
func hooked(changes ...change) *configuration {
	w := admissionregistrationv1.ValidatingWebhook{
		Name: "pods.example.org", FailurePolicy: new(admissionregistrationv1.Fail), TimeoutSeconds: new(int32(10)),
		Rules: rules("", "v1", "pods"),
	}
	for _, c := range changes {
		c(&w)
	}
	return &configuration{ObjectMeta: metav1.ObjectMeta{Name: "guard"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{w}}
}

func rules(group, version, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	if operations == nil {
		operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
	}}
}

func on(group, version, resource string, operations ...admissionregistrationv1.OperationType) change {
	return func(w *admissionregistrationv1.ValidatingWebhook) {
		w.Rules = rules(group, version, resource, operations...)
	}
}

func open(w *admissionregistrationv1.ValidatingWebhook) {
	w.FailurePolicy = new(admissionregistrationv1.Ignore)
}

func within(seconds int32) change {
	return func(w *admissionregistrationv1.ValidatingWebhook) { w.TimeoutSeconds = &seconds }
}

func scoped(scope admissionregistrationv1.ScopeType) change {
	return func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules[0].Scope = &scope }
}

func requirement(key string, op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
}

func namespaces(key string, op metav1.LabelSelectorOperator, values ...string) change {
	return func(w *admissionregistrationv1.ValidatingWebhook) {
		w.NamespaceSelector = requirement(key, op, values...)
	}
}

func objects(key string, op metav1.LabelSelectorOperator, values ...string) change {
	return func(w *admissionregistrationv1.ValidatingWebhook) { w.ObjectSelector = requirement(key, op, values...) }
}

const (
	in, notIn, exists = metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists
	whereItIs         = "kubernetes.io/metadata.name"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	stopped := "cannot be written while it does not answer"
	for name, tc := range map[string]struct {
		reason string
		hook   *configuration
		// want is part of the reason of the problem; empty for none.
		want string
	}{
		"GLET-CONSTR-3 closed":        {"no pod could start", hooked(), "pods in namespace kube-system, which " + stopped},
		"GLET-CONSTR-3 default":       {"a policy that is not set is Fail", hooked(func(w *admissionregistrationv1.ValidatingWebhook) { w.FailurePolicy = nil }), stopped},
		"GLET-CONSTR-3 open":          {"one that may be absent is not in the way", hooked(open), ""},
		"GLET-CONSTR-3 15 seconds":    {"nor one that is just quick enough", hooked(open, within(15)), ""},
		"GLET-CONSTR-3 16 seconds":    {"one that takes long is", hooked(open, within(16)), "longer than 15 seconds"},
		"GLET-CONSTR-3 no timeout":    {"also if nobody knows how long", hooked(open, func(w *admissionregistrationv1.ValidatingWebhook) { w.TimeoutSeconds = nil }), "longer than 15 seconds"},
		"GLET-CONSTR-3 leases":        {"leases must be renewed soon", hooked(on("coordination.k8s.io", "v1", "leases"), open, within(4)), "leases.coordination.k8s.io in namespace kube-system and may take longer than 3 seconds"},
		"GLET-CONSTR-3 quick leases":  {"3 seconds are soon enough", hooked(on("coordination.k8s.io", "v1", "leases"), open, within(3)), ""},
		"GLET-CONSTR-3 other leases":  {"those of users may take longer", hooked(on("coordination.k8s.io", "v1", "leases"), open, within(4), namespaces(whereItIs, in, "mine")), ""},
		"GLET-CONSTR-4 leases closed": {"but they must not fail anywhere", hooked(on("coordination.k8s.io", "v1", "leases"), within(1), namespaces(whereItIs, in, "mine")), "leases.coordination.k8s.io, which"},
		"GLET-CONSTR-4 update":        {"changes count as well", hooked(on("", "v1", "nodes", admissionregistrationv1.Update)), "nodes"},
		"GLET-CONSTR-4 everything":    {"so do all operations", hooked(on("", "v1", "nodes", admissionregistrationv1.OperationAll)), "nodes"},
		"GLET-CONSTR-4 deletion":      {"deletions do not", hooked(on("", "v1", "pods", admissionregistrationv1.Delete, admissionregistrationv1.Connect)), ""},
		"GLET-CONSTR-4 other kind":    {"kinds that nothing needs do not", hooked(on("", "v1", "events")), ""},
		"GLET-CONSTR-4 other group":   {"nor do those of others of the same name", hooked(on("example.org", "v1", "pods")), ""},
		"GLET-CONSTR-4 other version": {"nor versions that are not served", hooked(on("", "v2", "pods")), ""},
		"GLET-CONSTR-4 all":           {"stars mean all", hooked(on("*", "*", "*")), stopped},
		"GLET-CONSTR-4 subresource":   {"the status of a pod is needed", hooked(on("", "v1", "pods/status")), "pods/status"},
		"GLET-CONSTR-4 subresources":  {"so are all its subresources", hooked(on("", "v1", "pods/*")), "pods/status"},
		"GLET-CONSTR-4 scale":         {"and the scale of a Deployment", hooked(on("apps", "v1", "*/scale")), "deployments/scale.apps"},
		"GLET-CONSTR-4 all of all":    {"whichever group it belongs to", hooked(on("*", "*", "*/*")), stopped},
		"GLET-CONSTR-4 all of roles":  {"with and without subresources", hooked(on("rbac.authorization.k8s.io", "v1", "*/*")), "roles.rbac.authorization.k8s.io in namespace kube-system"},
		"GLET-CONSTR-4 no star":       {"a star alone means no subresource", hooked(on("certificates.k8s.io", "v1", "certificatesigningrequests/approval")), "certificatesigningrequests/approval"},
		"GLET-CONSTR-4 log":           {"other subresources are not needed", hooked(on("", "v1", "pods/exec")), ""},
		"GLET-CONSTR-4 cluster scope": {"a rule about the cluster is not about pods", hooked(scoped(admissionregistrationv1.ClusterScope)), ""},
		"GLET-CONSTR-4 scope":         {"but about nodes", hooked(on("", "v1", "nodes"), scoped(admissionregistrationv1.ClusterScope)), "nodes"},
		"GLET-CONSTR-4 namespaced":    {"and one about namespaces is not", hooked(on("", "v1", "nodes"), scoped(admissionregistrationv1.NamespacedScope)), ""},
		"GLET-CONSTR-4 all scopes":    {"one about both is about all", hooked(scoped(admissionregistrationv1.AllScopes)), stopped},
		"GLET-CONSTR-4 elsewhere":     {"other namespaces are not needed", hooked(namespaces(whereItIs, notIn, "kube-system")), ""},
		"GLET-CONSTR-4 by label":      {"whichever label tells them apart", hooked(namespaces("gardener.cloud/purpose", notIn, "kube-system")), ""},
		"GLET-CONSTR-4 here":          {"but kube-system is", hooked(namespaces(whereItIs, in, "kube-system", "mine")), stopped},
		"GLET-CONSTR-4 own pods":      {"pods of users are not", hooked(objects("origin", notIn, "gardener")), ""},
		"GLET-CONSTR-4 some pods":     {"nor those with other labels", hooked(objects("team", exists)), ""},
		"GLET-CONSTR-4 secrets":       {"Secrets have many labels", hooked(on("", "v1", "secrets"), objects("team", exists)), "secrets in namespace kube-system"},
		"GLET-CONSTR-4 default":       {"the address of the API server is in default", hooked(on("", "v1", "endpoints"), namespaces(whereItIs, in, "default")), "endpoints in namespace default"},
		"GLET-CONSTR-4 no selector":   {"nodes are in no namespace", hooked(on("", "v1", "nodes"), namespaces(whereItIs, in, "mine")), "nodes"},
		"GLET-CONSTR-4 namespaces":    {"kube-system itself has its labels", hooked(on("", "v1", "namespaces"), objects(whereItIs, notIn, "kube-system")), ""},
		"GLET-CONSTR-4 broken":        {"what nobody can read selects all", hooked(namespaces(whereItIs, "Like", "mine")), stopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(webhook.Judge(webhook.Configurations{Validating: []configuration{*tc.hook}}).Problems, "")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\nJudge(...) = %q, want %q in it", tc.reason, got, tc.want)
			}
		})
	}
}

// TestWhose sees whose configurations are judged, and in which order.
func TestWhose(t *testing.T) {
	t.Parallel()
	labelled := func(name string, labels map[string]string) configuration {
		c := *hooked()
		c.Name, c.Labels = name, labels
		return c
	}
	warned := *hooked(open)
	warned.Name, warned.Annotations = "mended", map[string]string{"gardener.cloud/warning": "text"}
	mutating := admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "z"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "nodes.example.org", Rules: rules("", "v1", "nodes")}},
	}
	found := webhook.Judge(webhook.Configurations{
		Mutating: []admissionregistrationv1.MutatingWebhookConfiguration{mutating},
		Validating: []configuration{
			labelled("b", nil), labelled("a", map[string]string{"remediation.webhook.shoot.gardener.cloud/exclude": "true"}),
			labelled("c", map[string]string{"app": "gardener-resource-manager"}), labelled("d", map[string]string{"resources.gardener.cloud/managed-by": "gardener"}), warned,
		},
	})
	want := webhook.Finding{
		Problems: []string{
			`webhook "nodes.example.org" of MutatingWebhookConfiguration "z": it is called for nodes, which cannot be written while it does not answer`,
			`webhook "pods.example.org" of ValidatingWebhookConfiguration "a": it is called for pods in namespace kube-system, which cannot be written while it does not answer`,
			`webhook "pods.example.org" of ValidatingWebhookConfiguration "b": it is called for pods in namespace kube-system, which cannot be written while it does not answer`,
		},
		Corrected: []string{`ValidatingWebhookConfiguration "mended"`},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("GLET-CONSTR-2, 3: Judge(...) (-want +got):\n%s", diff)
	}
	if got, want := webhook.Message([]string{"1", "2", "3", "4", "5", "6", "7"}), "1; 2; 3; 4; 5; and 2 more"; got != want {
		t.Errorf("Message(...) = %q, want %q", got, want)
	}
}
