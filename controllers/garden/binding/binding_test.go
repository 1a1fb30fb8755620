// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			tc.kind.Mark(credentials, withProvider("local, cloud, "))
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
			tc.kind.Mark(leaving, withProvider(""))
			if len(leaving.Finalizers) > 0 {
				t.Errorf("what is being deleted gets no finalizer any more, got %q", leaving.Finalizers)
			}
		})
	}
}

// TestFormerFinalizer_GCM_SECRETBINDING_1 marks and releases credentials that are held as in older releases.
func TestFormerFinalizer_GCM_SECRETBINDING_1(t *testing.T) {
	t.Parallel()
	const former, today = "gardener.cloud/gardener", "gardener.cloud/secretbinding"
	leaving := func(m *metav1.ObjectMeta) { m.DeletionTimestamp = new(metav1.Now()) }
	for name, tc := range map[string]struct {
		reason          string
		kind            binding.Kind
		namespace       string
		before          []string
		change          func(*metav1.ObjectMeta)
		marked, cleared []string
	}{
		"migrated":    {"it makes place for the one of today", binding.Secret(), "garden-dev", []string{former, "other"}, nil, []string{"other", today}, []string{"other"}},
		"leaving":     {"what is being deleted can get no other, so it is held by it until the end", binding.Secret(), "garden-dev", []string{former}, leaving, []string{former}, nil},
		"both":        {"what has both does not need it", binding.Secret(), "garden-dev", []string{former, today}, leaving, []string{today}, nil},
		"backups":     {"in the namespace garden it may be that of a gardenlet", binding.Secret(), "garden", []string{former}, nil, []string{former, today}, []string{former}},
		"credentials": {"CredentialsBindings never had it", binding.Credentials(), "garden-dev", []string{former}, nil, []string{former, "gardener.cloud/credentialsbinding"}, []string{former}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			credentials := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Finalizers: tc.before}}
			if tc.change != nil {
				tc.change(&credentials.ObjectMeta)
			}
			tc.kind.Mark(credentials, withProvider("local"))
			if diff := cmp.Diff(tc.marked, credentials.Finalizers); diff != "" {
				t.Errorf("%s\nfinalizers of what is marked (-want +got):\n%s", tc.reason, diff)
			}
			tc.kind.Unmark(credentials, nil)
			if diff := cmp.Diff(tc.cleared, credentials.Finalizers, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nfinalizers of what is released (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func withProvider(provider string) *gardensecurityv1alpha1.CredentialsBinding {
	return &gardensecurityv1alpha1.CredentialsBinding{Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: provider}}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	shoot := func(name string, secret, credentials *string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name},
			Spec:       gardencorev1beta1.ShootSpec{SecretBindingName: secret, CredentialsBindingName: credentials},
		}
	}
	elsewhere := shoot("f", new("cloud"), new("cloud"))
	elsewhere.Namespace = "garden-prod"
	garden := newClient(t, shoot("a", new("cloud"), nil), shoot("b", new("other"), nil), shoot("c", nil, nil),
		shoot("d", nil, new("cloud")), shoot("e", nil, new("other")), elsewhere)
	for name, tc := range map[string]struct {
		kind binding.Kind
		want []string
	}{
		"GCM-SECRETBINDING-2": {binding.Secret(), []string{"Shoot garden-dev/a"}},
		"GCM-CREDBINDING-1":   {binding.Credentials(), []string{"Shoot garden-dev/d"}},
	} {
		object, _ := tc.kind.Object.DeepCopyObject().(client.Object)
		object.SetNamespace("garden-dev")
		object.SetName("cloud")
		got, err := binding.Protection(tc.kind).References(t.Context(), garden, garden.Scheme(), object)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: shoots of the namespace that use a binding of the kind (-want +got):\n%s", name, diff)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	given := []corev1.ObjectReference{{Namespace: "garden-dev", Name: "small", UID: "2"}}
	quotas := []corev1.ObjectReference{{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Quota", Namespace: "garden-dev", Name: "small"}}
	for name, tc := range map[string]struct {
		reason string
		object client.Object
		want   *gardensecurityv1alpha1.CredentialsBinding
	}{
		"GCM-SECRETBINDING-1": {
			reason: "a SecretBinding names one Secret for several providers",
			object: &gardencorev1beta1.SecretBinding{
				ObjectMeta: metav1.ObjectMeta{UID: "1"}, SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"},
				Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local, cloud"}, Quotas: given,
			},
			want: &gardensecurityv1alpha1.CredentialsBinding{
				ObjectMeta: metav1.ObjectMeta{UID: "1"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local, cloud"}, Quotas: quotas,
				CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-dev", Name: "account"},
			},
		},
		"GCM-CREDBINDING-1": {
			reason: "a CredentialsBinding names credentials of several kinds; only the names in its references count",
			object: &gardensecurityv1alpha1.CredentialsBinding{
				ObjectMeta: metav1.ObjectMeta{UID: "1"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"}, Quotas: given,
				CredentialsRef: corev1.ObjectReference{
					APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden-dev", Name: "account", ResourceVersion: "3",
				},
			},
			want: &gardensecurityv1alpha1.CredentialsBinding{
				ObjectMeta: metav1.ObjectMeta{UID: "1"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"}, Quotas: quotas,
				CredentialsRef: corev1.ObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Namespace: "garden-dev", Name: "account"},
			},
		},
		"NoProvider": {
			reason: "a SecretBinding of an earlier release has no provider",
			object: &gardencorev1beta1.SecretBinding{SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"}},
			want: &gardensecurityv1alpha1.CredentialsBinding{
				CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-dev", Name: "account"},
			},
		},
		"OtherKind": {reason: "other kinds are not bindings", object: &corev1.Secret{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, binding.Of(tc.object)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
