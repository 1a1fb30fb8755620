// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := gardensecurityv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gardensecurityv1alpha1.RegisterDefaults(scheme)
	binding := func(credentials, quota string) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "garden-meadow"},
			CredentialsRef: corev1.ObjectReference{Namespace: credentials}, Quotas: []corev1.ObjectReference{{Namespace: quota}},
		}
	}
	list := func(b *gardensecurityv1alpha1.CredentialsBinding) runtime.Object {
		return &gardensecurityv1alpha1.CredentialsBindingList{Items: []gardensecurityv1alpha1.CredentialsBinding{*b}}
	}
	request := func(seconds *int64) runtime.Object {
		return &gardensecurityv1alpha1.TokenRequest{Spec: gardensecurityv1alpha1.TokenRequestSpec{ExpirationSeconds: seconds}}
	}
	for name, tc := range map[string]struct {
		reason      string
		given, want runtime.Object
	}{
		"API-DEF-17 own":   {reason: "what names no namespace is in that of the binding", given: binding("", ""), want: binding("garden-meadow", "garden-meadow")},
		"API-DEF-17 other": {reason: "what names one is there", given: binding("shared", "garden"), want: binding("shared", "garden")},
		"API-DEF-17 list":  {reason: "so it is in lists", given: list(binding("", "")), want: list(binding("garden-meadow", "garden-meadow"))},
		"API-TOKEN-1":      {reason: "a token lasts an hour", given: request(nil), want: request(new(int64(3600)))},
		"API-TOKEN-1 kept": {reason: "unless another time is given", given: request(new(int64(600))), want: request(new(int64(600)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme.Default(tc.given)
			if diff := cmp.Diff(tc.want, tc.given); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
