// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/binding"
)

func TestMark(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind      binding.Kind
		finalizer string
		label     string
	}{
		"GCM-SECRETBINDING-1": {binding.Secret(), "gardener.cloud/secretbinding", "reference.gardener.cloud/secretbinding"},
		"GCM-CREDBINDING-1":   {binding.Credentials(), "gardener.cloud/credentialsbinding", "reference.gardener.cloud/credentialsbinding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			credentials := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "a"}, Finalizers: []string{"other"}}}
			tc.kind.Mark(credentials, binding.Binding{Providers: []string{"local", "cloud"}})
			want := metav1.ObjectMeta{
				Labels: map[string]string{
					"team": "a", tc.label: "true", "provider.shoot.gardener.cloud/local": "true", "provider.shoot.gardener.cloud/cloud": "true",
				},
				Finalizers: []string{"other", tc.finalizer},
			}
			if diff := cmp.Diff(want, credentials.ObjectMeta); diff != "" {
				t.Errorf("a finalizer, a label for each provider and one for the reference (-want +got):\n%s", diff)
			}
			tc.kind.Unmark(credentials, []string{"cloud"})
			want = metav1.ObjectMeta{Labels: map[string]string{"team": "a", "provider.shoot.gardener.cloud/cloud": "true"}, Finalizers: []string{"other"}}
			if diff := cmp.Diff(want, credentials.ObjectMeta); diff != "" {
				t.Errorf("exactly those go again, but for a provider that a binding of the other kind names (-want +got):\n%s", diff)
			}
			leaving := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
			tc.kind.Mark(leaving, binding.Binding{})
			if len(leaving.Finalizers) > 0 {
				t.Errorf("what is being deleted gets no finalizer any more, got %q", leaving.Finalizers)
			}
		})
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, secret, credentials *string) gardencorev1beta1.Shoot {
		return gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name},
			Spec:       gardencorev1beta1.ShootSpec{SecretBindingName: secret, CredentialsBindingName: credentials},
		}
	}
	shoots := []gardencorev1beta1.Shoot{
		shoot("a", new("cloud"), nil), shoot("b", new("other"), nil), shoot("c", nil, nil), shoot("d", nil, new("cloud")), shoot("e", nil, new("other")),
	}
	if diff := cmp.Diff([]string{"Shoot garden-dev/a"}, binding.Secret().Users("cloud", shoots)); diff != "" {
		t.Errorf("GCM-SECRETBINDING-2: shoots that use the SecretBinding (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Shoot garden-dev/d"}, binding.Credentials().Users("cloud", shoots)); diff != "" {
		t.Errorf("GCM-CREDBINDING-1: shoots that use the CredentialsBinding (-want +got):\n%s", diff)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	quotas := []corev1.ObjectReference{{Namespace: "garden-dev", Name: "small"}}
	got, _ := binding.Secret().Of(&gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{UID: "1"}, SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"},
		Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local, cloud"}, Quotas: quotas,
	})
	key := types.NamespacedName{Namespace: "garden-dev", Name: "account"}
	want := binding.Binding{
		UID: "1", Credentials: binding.Reference{APIVersion: "v1", Kind: "Secret", NamespacedName: key}, Providers: []string{"local", "cloud"},
		Quotas: []types.NamespacedName{{Namespace: "garden-dev", Name: "small"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-SECRETBINDING-1: a binding names one Secret for several providers (-want +got):\n%s", diff)
	}
	got, _ = binding.Credentials().Of(&gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: metav1.ObjectMeta{UID: "1", DeletionTimestamp: new(metav1.Now())}, Quotas: quotas, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden-dev", Name: "account"},
	})
	want.Leaving, want.Providers = true, []string{"local"}
	want.Credentials = binding.Reference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", NamespacedName: key}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-CREDBINDING-1: a binding names credentials of several kinds (-want +got):\n%s", diff)
	}
}
