// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/extension/webhook"
)

func unchanged(context.Context, client.Object, client.Object) error { return nil }

func deployments(mutate webhook.Mutate) webhook.Webhook {
	return webhook.Webhook{Name: "controlplane", Kind: webhook.KindShoot, Type: "demo", Objects: []client.Object{&appsv1.Deployment{}}, Mutate: mutate}
}

// request is a request about a Deployment, with fields that this program does not know.
func request(operation admissionv1.Operation, kind, object string) admission.Request {
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: operation, Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}, Object: runtime.RawExtension{Raw: []byte(object)},
	}}
	if operation == admissionv1.Update {
		r.OldObject.Raw = []byte(`{"metadata":{"name":"a","labels":{"was":"so"}}}`)
	}
	return r
}

func TestHandle_EXT_WH_7(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const plain, leaving = `{"metadata":{"name":"a"},"spec":{"fromTomorrow":1}}`, `{"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}}`
	label := func(_ context.Context, object, before client.Object) error {
		labels := map[string]string{"worn": "yes"}
		if before != nil {
			labels["was"] = before.GetLabels()["was"]
		}
		object.SetLabels(labels)
		return nil
	}
	for name, tc := range map[string]struct {
		reason  string
		mutate  webhook.Mutate
		request admission.Request
		allowed bool
		code    int32
		message string
		patch   string
	}{
		"created": {
			reason: "only what was changed is patched, so that fields which this program does not know stay", mutate: label, request: request(admissionv1.Create, "Deployment", plain),
			allowed: true, patch: `[{"op":"add","path":"/metadata/labels","value":{"worn":"yes"}}]`,
		},
		"updated": {
			reason: "the object as it was is there too", mutate: label, request: request(admissionv1.Update, "Deployment", plain),
			allowed: true, patch: `[{"op":"add","path":"/metadata/labels","value":{"was":"so","worn":"yes"}}]`,
		},
		"unchanged": {reason: "what is not changed passes without a patch", mutate: unchanged, request: request(admissionv1.Create, "Deployment", plain), allowed: true, code: 200},
		"refused": {
			reason: "an error refuses the request", request: request(admissionv1.Create, "Deployment", plain), code: 422, message: "no such flavour",
			mutate: func(context.Context, client.Object, client.Object) error { return errors.New("no such flavour") },
		},
		"unknown kind":      {reason: "a kind that the webhook is not for", mutate: label, request: request(admissionv1.Create, "StatefulSet", plain), code: 400, message: "StatefulSet"},
		"unknown operation": {reason: "an operation that it is not for", mutate: label, request: request(admissionv1.Delete, "Deployment", plain), code: 400, message: "DELETE"},
		"garbage":           {reason: "what is no object", mutate: label, request: request(admissionv1.Create, "Deployment", `[`), code: 400, message: "decode the object"},
		"leaving":           {reason: "what is being deleted is left as it is", mutate: label, request: request(admissionv1.Update, "Deployment", leaving), allowed: true, code: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler, err := deployments(tc.mutate).Handler(types)
			if err != nil {
				t.Fatal(err)
			}
			got := handler.Handle(t.Context(), tc.request)
			var code int32
			var message string
			if got.Result != nil {
				code, message = got.Result.Code, got.Result.Message
			}
			if got.Allowed != tc.allowed || code != tc.code || !strings.Contains(message, tc.message) {
				t.Errorf("%s\nHandle(...): allowed %t, code %d, message %q; want %t, %d, %q", tc.reason, got.Allowed, code, message, tc.allowed, tc.code, tc.message)
			}
			patch := ""
			if len(got.Patches) > 0 {
				data, err := json.Marshal(got.Patches)
				if err != nil {
					t.Fatal(err)
				}
				patch = string(data)
			}
			if diff := cmp.Diff(tc.patch, patch); diff != "" {
				t.Errorf("%s\npatch (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidate_EXT_WH_1(t *testing.T) {
	t.Parallel()
	set := func(change func(*webhook.Set)) webhook.Set {
		s := webhook.Set{
			Extension: "provider-demo", Seed: []webhook.Webhook{deployments(unchanged)},
			Shoot: []webhook.Webhook{{Name: "system", Objects: []client.Object{&corev1.ConfigMap{}}, Mutate: unchanged}},
		}
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, tc := range map[string]struct {
		reason string
		set    webhook.Set
		want   string
	}{
		"good":         {reason: "nothing is wrong", set: set(nil)},
		"network":      {reason: "a plugin of a provider", set: set(func(s *webhook.Set) { s.Seed[0].Kind, s.Seed[0].Network = webhook.KindNetwork, "mesh" })},
		"anybody":      {reason: "it would be asked about shoots of everybody", set: set(func(s *webhook.Set) { s.Seed[0].Type = "" }), want: "all providers"},
		"no kind":      {reason: "a type without a kind restricts nothing", set: set(func(s *webhook.Set) { s.Seed[0].Kind = "" }), want: "must be one of"},
		"no plugin":    {reason: "a network without its type", set: set(func(s *webhook.Set) { s.Seed[0].Kind = webhook.KindNetwork }), want: "network"},
		"a plugin":     {reason: "a type of networks for shoots", set: set(func(s *webhook.Set) { s.Seed[0].Network = "mesh" }), want: "network"},
		"shoot type":   {reason: "a shoot has one provider", set: set(func(s *webhook.Set) { s.Shoot[0].Type = "demo" }), want: "leave kind, type and network unset"},
		"no objects":   {reason: "it is asked about nothing", set: set(func(s *webhook.Set) { s.Seed[0].Objects = nil }), want: "no objects"},
		"no function":  {reason: "it does nothing", set: set(func(s *webhook.Set) { s.Shoot[0].Mutate = nil }), want: "no function"},
		"two":          {reason: "paths are unique", set: set(func(s *webhook.Set) { s.Seed = append(s.Seed, s.Seed[0]) }), want: "there are two"},
		"name":         {reason: "the name is a part of a path and of another name", set: set(func(s *webhook.Set) { s.Seed[0].Name = "a/b" }), want: "the name"},
		"no extension": {reason: "everything is named after it", set: set(func(s *webhook.Set) { s.Extension = "" }), want: "the name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.set.Validate()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nValidate() = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestNames_EXT_WH_5(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{webhook.ConfigurationName("provider-demo"), "gardener-extension-provider-demo"},
		{webhook.FullName("provider-demo", "controlplane"), "controlplane.demo.extensions.gardener.cloud"},
		{webhook.FullName("networking-mesh", "network"), "network.networking-mesh.extensions.gardener.cloud"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
