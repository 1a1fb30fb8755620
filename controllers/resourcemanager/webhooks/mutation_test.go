// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

// asked is a server with all webhooks, for a seed with objects.
type asked struct{ mux *http.ServeMux }

func newAsked(t *testing.T, decider webhooks.Decider, objects ...client.Object) asked {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	decider.Seed = fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
	server := webhook.NewServer(webhook.Options{})
	decider.Register(server, logr.Discard())
	return asked{server.WebhookMux()}
}

// ask sends a new object of the namespace ns as an API server would, and returns what becomes of it. The refusal is empty if the
// request is allowed.
func (a asked) ask(t *testing.T, path, kind, text string) (after *unstructured.Unstructured, refusal string) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		t.Fatal(err)
	}
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID("u"), Kind: metav1.GroupVersionKind{Kind: kind}, Namespace: "ns", Name: object.GetName(), Operation: admissionv1.Create,
			Object: runtime.RawExtension{Raw: raw},
		},
	}
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	a.mux.ServeHTTP(recorder, request)
	answer := admissionv1.AdmissionReview{}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		t.Fatalf("the answer is %d %s: %v", recorder.Code, recorder.Body, err)
	}
	if !answer.Response.Allowed {
		return nil, answer.Response.Result.Message
	}
	if len(answer.Response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(answer.Response.Patch)
		if err == nil {
			raw, err = patch.Apply(raw)
		}
		if err != nil {
			t.Fatalf("apply the patch %s: %v", answer.Response.Patch, err)
		}
	}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		t.Fatal(err)
	}
	return object, ""
}

// field is a part of an object as YAML, which does not depend on the order of keys.
func field(t *testing.T, object *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || !found {
		return ""
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func account(name string, automount *bool) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, AutomountServiceAccountToken: automount}
}

func TestTokens_GRM_WH_PROJ(t *testing.T) {
	t.Parallel()
	const path = "/webhooks/mount-projected-service-account-token"
	a := newAsked(t, webhooks.Decider{TokenExpiration: time.Hour}, account("quiet", new(false)), account("loud", new(true)), account("plain", nil), account("default", new(false)))
	pod := func(metadata, spec string) string {
		return "metadata: {name: p" + metadata + "}\nspec: {containers: [{name: c}], initContainers: [{name: i}], future: {stays: true}" + spec + "}\n"
	}
	cases := map[string]struct {
		reason, metadata, spec string
		seconds                string
		refused                string
	}{
		"Quiet":   {reason: "PROJ-1: the account mounts none by itself", spec: ", serviceAccountName: quiet", seconds: "3600"},
		"Own":     {reason: "PROJ-3: an annotation says how long", metadata: `, annotations: {projected-token-mount.resources.gardener.cloud/expiration-seconds: "700"}`, spec: ", serviceAccountName: quiet", seconds: "700"},
		"Broken":  {reason: "PROJ-3: and has to be a number", metadata: `, annotations: {projected-token-mount.resources.gardener.cloud/expiration-seconds: soon}`, spec: ", serviceAccountName: quiet", refused: `annotation projected-token-mount.resources.gardener.cloud/expiration-seconds: "soon" is not a number of seconds`},
		"Skipped": {reason: "PROJ-1: a label says not to", metadata: `, labels: {projected-token-mount.resources.gardener.cloud/skip: "true"}`, spec: ", serviceAccountName: quiet"},
		"Default": {reason: "PROJ-1: the default account is left alone", spec: ", serviceAccountName: default"},
		"None":    {reason: "PROJ-1: so is a pod without account"},
		"Loud":    {reason: "PROJ-1: the account mounts by itself", spec: ", serviceAccountName: loud"},
		"Plain":   {reason: "PROJ-1: so does one that says nothing", spec: ", serviceAccountName: plain"},
		"Pod":     {reason: "PROJ-1: the pod wants none", spec: ", serviceAccountName: quiet, automountServiceAccountToken: false"},
		"Mounted": {reason: "PROJ-1: the pod has one", spec: ", serviceAccountName: quiet, volumes: [{name: kube-api-access-mine}]"},
		"Unknown": {reason: "an account that cannot be read refuses", spec: ", serviceAccountName: absent", refused: `get service account "ns/absent": serviceaccounts "absent" not found`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := pod(tc.metadata, tc.spec)
			after, refusal := a.ask(t, path, "Pod", text)
			if refusal != tc.refused {
				t.Fatalf("%s: refused with %q, want %q", tc.reason, refusal, tc.refused)
			}
			if tc.refused != "" {
				return
			}
			want := &unstructured.Unstructured{}
			if tc.seconds != "" {
				text = pod(tc.metadata, tc.spec+`, volumes: [{name: kube-api-access-gardener, projected: {defaultMode: 420, sources: [
					{serviceAccountToken: {path: token, expirationSeconds: `+tc.seconds+`}},
					{configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}},
					{downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}}]}}]`)
			}
			if err := yaml.Unmarshal([]byte(text), &want.Object); err != nil {
				t.Fatal(err)
			}
			if tc.seconds != "" {
				mount := []any{map[string]any{"name": "kube-api-access-gardener", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}}
				_ = unstructured.SetNestedSlice(want.Object, []any{map[string]any{"name": "c", "volumeMounts": mount}}, "spec", "containers")
				_ = unstructured.SetNestedSlice(want.Object, []any{map[string]any{"name": "i", "volumeMounts": mount}}, "spec", "initContainers")
			}
			if diff := cmp.Diff(field(t, want, "spec"), field(t, after, "spec")); diff != "" {
				t.Errorf("GRM-WH-PROJ-2: %s: the pod (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGroupOfTokens_GRM_WH_PROJ_4(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{}, account("quiet", new(false)))
	for given, want := range map[string]string{
		"{runAsNonRoot: true}": "65534\n", "{runAsNonRoot: true, fsGroup: 7}": "7\n", "{runAsNonRoot: false}": "", "{}": "",
	} {
		text := "metadata: {name: p}\nspec: {serviceAccountName: quiet, containers: [{name: c}], securityContext: " + given + "}\n"
		after, refusal := a.ask(t, "/webhooks/mount-projected-service-account-token", "Pod", text)
		if refusal != "" {
			t.Fatal(refusal)
		}
		if got := field(t, after, "spec", "securityContext", "fsGroup"); got != want {
			t.Errorf("with %s the group is %q, want %q", given, got, want)
		}
		if got := field(t, after, "spec", "volumes"); !bytes.Contains([]byte(got), []byte("expirationSeconds: 43200")) {
			t.Errorf("GRM-WH-PROJ-3: a token lasts 12h unless something else is set, got\n%s", got)
		}
	}
}

func TestSeccomp_GRM_WH_SECCOMP_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{})
	for text, want := range map[string]string{
		"metadata: {name: p}\nspec: {containers: [{name: c}]}":                                                             "{seccompProfile: {type: RuntimeDefault}}",
		"metadata: {name: p}\nspec: {containers: [{name: c}], securityContext: {runAsUser: 7}}":                            "{runAsUser: 7, seccompProfile: {type: RuntimeDefault}}",
		"metadata: {name: p}\nspec: {containers: [{name: c}], securityContext: {seccompProfile: {type: Unconfined}}}":      "{seccompProfile: {type: Unconfined}}",
		"metadata: {name: p, labels: {seccompprofile.resources.gardener.cloud/skip: ''}}\nspec: {containers: [{name: c}]}": "",
	} {
		after, refusal := a.ask(t, "/webhooks/seccomp-profile", "Pod", text)
		if refusal != "" {
			t.Fatal(refusal)
		}
		if diff := cmp.Diff(canonical(t, want), field(t, after, "spec", "securityContext")); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", text, diff)
		}
	}
}

// canonical writes YAML as field does.
func canonical(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	written, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func TestScheduler_GRM_WH_SCHED_1(t *testing.T) {
	t.Parallel()
	const name = "gardener-kube-scheduler"
	a := newAsked(t, webhooks.Decider{Scheduler: name})
	for given, want := range map[string]string{"": name, ", schedulerName: default-scheduler": name, ", schedulerName: mine": "mine"} {
		after, refusal := a.ask(t, "/webhooks/default-pod-scheduler-name/"+name, "Pod", "metadata: {name: p}\nspec: {containers: [{name: c}]"+given+"}\n")
		if refusal != "" {
			t.Fatal(refusal)
		}
		if got := field(t, after, "spec", "schedulerName"); got != want+"\n" {
			t.Errorf("pod with %q: got %s, want %s", given, got, want)
		}
	}
	mutating := map[string]bool{}
	for _, scheduler := range []string{"", name} {
		objects := webhooks.Configuration(webhooks.Values{Scheduler: scheduler})
		configuration, ok := objects[1].(*admissionregistrationv1.MutatingWebhookConfiguration)
		mutating[scheduler] = ok && configuration.Webhooks[len(configuration.Webhooks)-1].Name == "default-pod-scheduler-name.resources.gardener.cloud"
	}
	if mutating[""] || !mutating[name] {
		t.Errorf("the webhook is configured without and with a scheduler: %v", mutating)
	}
}

func TestSpreadByHash_GRM_WH_TSC_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{})
	const constraints = "spec: {containers: [{name: c}], topologySpreadConstraints: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}, {topologyKey: host}]}"
	for metadata, want := range map[string]string{
		"metadata: {name: p, labels: {pod-template-hash: x}}\n": "[{labelSelector: {matchLabels: {a: b, pod-template-hash: x}}, topologyKey: zone}, {topologyKey: host}]",
		"metadata: {name: p}\n":                                 "[{labelSelector: {matchLabels: {a: b}}, topologyKey: zone}, {topologyKey: host}]",
		"metadata: {name: p, labels: {pod-template-hash: x, topology-spread-constraints.resources.gardener.cloud/skip: ''}}\n": "[{labelSelector: {matchLabels: {a: b}}, topologyKey: zone}, {topologyKey: host}]",
	} {
		after, refusal := a.ask(t, "/webhooks/pod-topology-spread-constraints", "Pod", metadata+constraints)
		if refusal != "" {
			t.Fatal(refusal)
		}
		if diff := cmp.Diff(canonical(t, want), field(t, after, "spec", "topologySpreadConstraints")); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", metadata, diff)
		}
	}
}

func namespace(annotations map[string]string) *corev1.Namespace {
	of := map[string]string{}
	for key, value := range annotations {
		of["high-availability-config.resources.gardener.cloud/"+key] = value
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Annotations: of}}
}

func TestReplicas_GRM_WH_HA_1(t *testing.T) {
	t.Parallel()
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
	scaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d"}
	cases := map[string]struct {
		reason      string
		labels      string
		annotations string
		replicas    string
		namespace   map[string]string
		scaled      bool
		want        string
	}{
		"Server":     {reason: "servers have two pods", labels: "type: server", replicas: "1", want: "2\n"},
		"Controller": {reason: "controllers too", labels: "type: controller", replicas: "1", want: "2\n"},
		"Tolerant":   {reason: "also if a failure is to be survived", labels: "type: controller", replicas: "1", namespace: map[string]string{"failure-tolerance-type": "node"}, want: "2\n"},
		"Frugal":     {reason: "but not if none is", labels: "type: controller", replicas: "3", namespace: map[string]string{"failure-tolerance-type": ""}, want: "1\n"},
		"Given":      {reason: "an annotation wins", labels: "type: server", annotations: "replicas: '4'", replicas: "1", want: "4\n"},
		"Off":        {reason: "what is off stays off", labels: "type: server", replicas: "0", want: "0\n"},
		"Scaled":     {reason: "an autoscaler may ask for more", labels: "type: server", replicas: "5", scaled: true, want: "5\n"},
		"Unscaled":   {reason: "but not for less", labels: "type: server", replicas: "1", scaled: true, want: "2\n"},
		"Other":      {reason: "other workloads are left alone", replicas: "1", want: "1\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{namespace(tc.namespace)}
			if tc.scaled {
				objects = append(objects, scaler.DeepCopy())
			}
			text := "metadata: {name: d, labels: {" + prefixed(tc.labels) + "}, annotations: {" + prefixed(tc.annotations) + "}}\nspec: {replicas: " + tc.replicas + ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}\n"
			for _, kind := range []string{"Deployment", "StatefulSet"} {
				if tc.scaled && kind == "StatefulSet" {
					continue
				}
				after, refusal := newAsked(t, webhooks.Decider{}, objects...).ask(t, "/webhooks/high-availability-config", kind, text)
				if refusal != "" {
					t.Fatal(refusal)
				}
				if got := field(t, after, "spec", "replicas"); got != tc.want {
					t.Errorf("%s: %s: got %s, want %s", tc.reason, kind, got, tc.want)
				}
			}
		})
	}
}

func prefixed(pair string) string {
	if pair == "" {
		return ""
	}
	return "high-availability-config.resources.gardener.cloud/" + pair
}

func TestSpreadOverZones_GRM_WH_HA_1(t *testing.T) {
	t.Parallel()
	const tolerations = "[{effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 60}, {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 60}]"
	cases := map[string]struct {
		namespace             map[string]string
		replicas              string
		affinity, constraints string
	}{
		"One":  {replicas: "1"},
		"Two":  {replicas: "2", constraints: "[{labelSelector: {matchLabels: {a: b}}, maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}]"},
		"Node": {replicas: "2", namespace: map[string]string{"failure-tolerance-type": "node"}, constraints: "[{labelSelector: {matchLabels: {a: b}}, maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}]"},
		"Zone": {
			replicas: "3", namespace: map[string]string{"failure-tolerance-type": "zone", "zones": "x,z"},
			affinity:    "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [x, z]}]}]}}}",
			constraints: "[{labelSelector: {matchLabels: {a: b}}, maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}, {labelSelector: {matchLabels: {a: b}}, maxSkew: 1, minDomains: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]",
		},
		"Pinned": {
			replicas: "1", namespace: map[string]string{"zone-pinning": "true", "zones": "x"},
			affinity: "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [x]}]}]}}}",
		},
		"Unpinned": {replicas: "1", namespace: map[string]string{"zones": "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAsked(t, webhooks.Decider{}, namespace(tc.namespace))
			text := "metadata: {name: d}\nspec: {replicas: " + tc.replicas + ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}\n"
			once, refusal := a.ask(t, "/webhooks/high-availability-config", "Deployment", text)
			if refusal != "" {
				t.Fatal(refusal)
			}
			again, err := yaml.Marshal(once.Object)
			if err != nil {
				t.Fatal(err)
			}
			twice, refusal := a.ask(t, "/webhooks/high-availability-config", "Deployment", string(again))
			if refusal != "" {
				t.Fatal(refusal)
			}
			if diff := cmp.Diff(once.Object, twice.Object); diff != "" {
				t.Errorf("A second write changes more (-once +twice):\n%s", diff)
			}
			for what, want := range map[string]string{"affinity": tc.affinity, "topologySpreadConstraints": tc.constraints, "tolerations": tolerations} {
				if diff := cmp.Diff(canonical(t, want), field(t, once, "spec", "template", "spec", what)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// TestTolerations: what the process was told counts for pods that do not say it themselves, and 0 lets them go at once.
func TestTolerations_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{Tolerations: webhooks.NodeTolerations{NotReady: new(int64(0)), Unreachable: new(int64(7))}}, namespace(nil))
	for given, want := range map[string]string{
		"": "[{effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 0}, {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 7}]",
		"{effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300}": "[{effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300}, {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 0}]",
	} {
		text := "metadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {tolerations: [" + given + "], containers: [{name: c}]}}}\n"
		after, refusal := a.ask(t, "/webhooks/high-availability-config", "Deployment", text)
		if refusal != "" {
			t.Fatal(refusal)
		}
		if diff := cmp.Diff(canonical(t, want), field(t, after, "spec", "template", "spec", "tolerations")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", given, diff)
		}
	}
}

func TestAutoscalers_GRM_WH_HA_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{}, namespace(nil))
	for given, want := range map[string]string{"{maxReplicas: 1}": "{maxReplicas: 2, minReplicas: 2}", "{minReplicas: 3, maxReplicas: 9}": "{maxReplicas: 9, minReplicas: 3}"} {
		text := "metadata: {name: s, labels: {" + prefixed("type: server") + "}}\nspec: " + given + "\n"
		after, refusal := a.ask(t, "/webhooks/high-availability-config", "HorizontalPodAutoscaler", text)
		if refusal != "" {
			t.Fatal(refusal)
		}
		if diff := cmp.Diff(canonical(t, want), field(t, after, "spec")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", given, diff)
		}
	}
	if _, refusal := a.ask(t, "/webhooks/high-availability-config", "Pod", "metadata: {name: p}"); refusal == "" {
		t.Error("a kind without a rule was allowed")
	}
}
