// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/security/validation"
)

type (
	binding  = gardensecurityv1alpha1.CredentialsBinding
	identity = gardensecurityv1alpha1.WorkloadIdentity
)

func bound(change ...func(*binding)) *binding {
	b := &binding{
		ObjectMeta:     metav1.ObjectMeta{Name: "key", Namespace: "garden-meadow", ResourceVersion: "1"},
		Provider:       gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-meadow", Name: "key"},
		Quotas:         []corev1.ObjectReference{{Namespace: "garden", Name: "small"}},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func to(version, kind string) func(*binding) {
	return func(b *binding) { b.CredentialsRef.APIVersion, b.CredentialsRef.Kind = version, kind }
}

func TestValidateCredentialsBinding(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*binding)
		want   []string
	}{
		"API-VALCB-1 secret":          {reason: "a secret", change: func(*binding) {}},
		"API-VALCB-1 internal secret": {reason: "one that members cannot read", change: to("core.gardener.cloud/v1beta1", "InternalSecret")},
		"API-VALCB-1 identity":        {reason: "an identity", change: to("security.gardener.cloud/v1alpha1", "WorkloadIdentity")},
		"API-VALCB-1 other":           {reason: "nothing else has credentials", change: to("v1", "ConfigMap"), want: []string{"credentialsRef: FieldValueNotSupported"}},
		"API-VALCB-1 version":         {reason: "each kind is of its own group", change: to("v1", "WorkloadIdentity"), want: []string{"credentialsRef: FieldValueNotSupported"}},
		"API-VALCB-1 two types": {
			reason: "a binding is for one provider", change: func(b *binding) { b.Provider.Type = "local,other" }, want: []string{"provider.type: FieldValueInvalid"},
		},
		"API-VALCB-1 empty": {
			reason: "which credentials, for what, within what",
			change: func(b *binding) {
				b.Provider.Type, b.CredentialsRef, b.Quotas = "", corev1.ObjectReference{}, []corev1.ObjectReference{{}}
			},
			want: []string{
				"credentialsRef.apiVersion: FieldValueRequired", "credentialsRef.kind: FieldValueRequired",
				"credentialsRef.name: FieldValueInvalid", "credentialsRef.name: FieldValueRequired",
				"credentialsRef.namespace: FieldValueInvalid", "credentialsRef.namespace: FieldValueRequired",
				"credentialsRef: FieldValueNotSupported", "provider.type: FieldValueRequired", "quotas[0].name: FieldValueRequired",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCredentialsBinding(bound(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateCredentialsBinding(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateCredentialsBindingUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*binding)
		want   []string
	}{
		"API-VALCB-1 labels":      {reason: "labels may change", change: func(b *binding) { b.Labels = map[string]string{"a": "b"} }},
		"API-VALCB-1 provider":    {reason: "the provider stays", change: func(b *binding) { b.Provider.Type = "other" }, want: []string{"provider: FieldValueInvalid"}},
		"API-VALCB-1 credentials": {reason: "so do the credentials", change: func(b *binding) { b.CredentialsRef.Name = "other" }, want: []string{"credentialsRef: FieldValueInvalid"}},
		"API-VALCB-1 quotas":      {reason: "and the quotas", change: func(b *binding) { b.Quotas = nil }, want: []string{"quotas: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCredentialsBindingUpdate(bound(tc.change), bound()))); diff != "" {
				t.Errorf("%s\nValidateCredentialsBindingUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func workload(change ...func(*identity)) *identity {
	w := &identity{
		ObjectMeta: metav1.ObjectMeta{Name: "wi", Namespace: "garden-meadow", UID: "1234", ResourceVersion: "1"},
		Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"cloud.example"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
		},
	}
	for _, c := range change {
		c(w)
	}
	if w.Status.Sub == "" {
		w.Status.Sub = validation.Subject(w)
	}
	return w
}

func TestValidateWorkloadIdentity(t *testing.T) {
	t.Parallel()
	if got, want := workload().Status.Sub, "gardener.cloud:workloadidentity:garden-meadow:wi:1234"; got != want {
		t.Errorf("API-VALWI-1: subject %q, want %q", got, want)
	}
	path := strings.Repeat("a", 63)
	for name, tc := range map[string]struct {
		reason string
		got    field.ErrorList
		want   []string
	}{
		"API-VALWI-1 complete": {reason: "an identity with all it needs", got: validation.ValidateWorkloadIdentity(workload())},
		"API-VALWI-1 empty": {
			reason: "whose tokens open nothing", got: validation.ValidateWorkloadIdentity(workload(func(w *identity) { w.Spec = gardensecurityv1alpha1.WorkloadIdentitySpec{} })),
			want: []string{"spec.audiences: FieldValueRequired", "spec.targetSystem.type: FieldValueRequired"},
		},
		"API-VALWI-1 audiences": {
			reason: "each audience once", got: validation.ValidateWorkloadIdentity(workload(func(w *identity) { w.Spec.Audiences = []string{"a", "", "a"} })),
			want: []string{"spec.audiences[1]: FieldValueRequired", "spec.audiences[2]: FieldValueDuplicate"},
		},
		"API-VALWI-1 subject": {
			reason: "nobody chooses who he is", got: validation.ValidateWorkloadIdentity(workload(func(w *identity) { w.Status.Sub = "admin" })),
			want: []string{"status.sub: FieldValueInvalid"},
		},
		"API-VALWI-1 long": {
			reason: "a name that is too long for a token",
			got:    validation.ValidateWorkloadIdentity(workload(func(w *identity) { w.Name = strings.Join([]string{path, path, path, path[:40]}, ".") })),
			want:   []string{"status.sub: FieldValueTooLong"},
		},
		"API-VALWI-1 target": {
			reason: "the system stays", got: validation.ValidateWorkloadIdentityUpdate(workload(func(w *identity) { w.Spec.TargetSystem.Type = "other" }), workload()),
			want: []string{"spec.targetSystem.type: FieldValueInvalid"},
		},
		"API-VALWI-1 update": {
			reason: "audiences may change", got: validation.ValidateWorkloadIdentityUpdate(workload(func(w *identity) { w.Spec.Audiences = []string{"b"} }), workload()),
		},
		"API-VALWI-1 other subject": {
			reason: "an identity stays itself", got: validation.ValidateWorkloadIdentityUpdate(workload(func(w *identity) { w.Status.Sub = "admin" }), workload()),
			want: []string{"status.sub: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(tc.got)); diff != "" {
				t.Errorf("%s\ncomplaints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateTokenRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		seconds *int64
		context *gardensecurityv1alpha1.ContextObject
		want    []string
	}{
		"API-TOKEN-1 plain":     {reason: "nothing has to be said"},
		"API-TOKEN-1 shortest":  {reason: "ten minutes", seconds: new(int64(600))},
		"API-TOKEN-1 longest":   {reason: "as long as a number can say", seconds: new(int64(1<<32 - 1))},
		"API-TOKEN-1 too short": {reason: "less would be spent at once", seconds: new(int64(599)), want: []string{"spec.expirationSeconds: FieldValueInvalid"}},
		"API-TOKEN-1 too long":  {reason: "more is a mistake", seconds: new(int64(1 << 32)), want: []string{"spec.expirationSeconds: FieldValueInvalid"}},
		"API-TOKEN-1 context": {
			reason:  "an object that is named in full",
			context: &gardensecurityv1alpha1.ContextObject{Kind: "Shoot", APIVersion: "core.gardener.cloud/v1beta1", Name: "s", Namespace: new("n"), UID: types.UID("1")},
		},
		"API-TOKEN-1 no context": {
			reason: "half of a name is none", context: &gardensecurityv1alpha1.ContextObject{Namespace: new("")},
			want: []string{
				"spec.contextObject.apiVersion: FieldValueRequired", "spec.contextObject.kind: FieldValueRequired", "spec.contextObject.name: FieldValueRequired",
				"spec.contextObject.namespace: FieldValueInvalid", "spec.contextObject.uid: FieldValueRequired",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &gardensecurityv1alpha1.TokenRequest{Spec: gardensecurityv1alpha1.TokenRequestSpec{ExpirationSeconds: tc.seconds, ContextObject: tc.context}}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateTokenRequest(r))); diff != "" {
				t.Errorf("%s\nValidateTokenRequest(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
