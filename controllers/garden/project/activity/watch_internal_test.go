// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestInUse_GCM_ACTIVITY_2(t *testing.T) {
	t.Parallel()
	const ofSecretBinding, ofCredentialsBinding = "reference.gardener.cloud/secretbinding", "reference.gardener.cloud/credentialsbinding"
	for name, tc := range map[string]struct {
		labels map[string]string
		want   bool
	}{
		"none":                  {},
		"SecretBinding":         {labels: map[string]string{ofSecretBinding: "true"}, want: true},
		"CredentialsBinding":    {labels: map[string]string{ofCredentialsBinding: "true"}, want: true},
		"both":                  {labels: map[string]string{ofSecretBinding: "true", ofCredentialsBinding: "true"}, want: true},
		"no SecretBinding":      {labels: map[string]string{ofSecretBinding: "false"}},
		"no CredentialsBinding": {labels: map[string]string{ofCredentialsBinding: "false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inUse(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}}); got != tc.want {
				t.Errorf("inUse of a Secret with labels %v: got %t, want %t", tc.labels, got, tc.want)
			}
		})
	}
}

func TestOwner_GCM_ACTIVITY_2(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: map[string]string{"project.gardener.cloud/name": "dev"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
	).Build()
	r := &Reconciler{Base: kit.Base{Client: c}}
	for namespace, want := range map[string][]reconcile.Request{
		"garden-dev":  {{NamespacedName: types.NamespacedName{Name: "dev"}}},
		"default":     nil,
		"garden-gone": nil,
	} {
		var object client.Object = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}}
		if diff := cmp.Diff(want, r.owner(t.Context(), object)); diff != "" {
			t.Errorf("projects with activity in namespace %q (-want +got):\n%s", namespace, diff)
		}
	}
}
