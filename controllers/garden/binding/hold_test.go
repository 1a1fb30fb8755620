// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/binding"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const namespace = "garden-dev"

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}
}

func quotaRefs(names []string) []corev1.ObjectReference {
	var refs []corev1.ObjectReference
	for _, name := range names {
		refs = append(refs, corev1.ObjectReference{Namespace: namespace, Name: name})
	}
	return refs
}

func secretBinding(name string, quotas ...string) *gardencorev1beta1.SecretBinding {
	return &gardencorev1beta1.SecretBinding{
		ObjectMeta: meta(name), SecretRef: corev1.SecretReference{Namespace: namespace, Name: "account"},
		Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local"}, Quotas: quotaRefs(quotas),
	}
}

func credentialsBinding(name, apiVersion, kind, credentials string, quotas ...string) *gardensecurityv1alpha1.CredentialsBinding {
	return &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: meta(name), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "cloud"}, Quotas: quotaRefs(quotas),
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: credentials},
	}
}

// marks tells what an object carries: its finalizers and labels.
func marks(t *testing.T, c client.Client, object client.Object) string {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	var short []string
	for _, f := range object.GetFinalizers() {
		short = append(short, strings.TrimPrefix(f, "gardener.cloud/"))
	}
	for _, key := range slices.Sorted(maps.Keys(object.GetLabels())) {
		short = append(short, strings.Replace(strings.Replace(key, "reference.gardener.cloud/", "~", 1), "provider.shoot.gardener.cloud/", "@", 1))
	}
	return strings.Join(short, " ")
}

func newClient(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).Build()
}

func TestHoldAndFree(t *testing.T) {
	t.Parallel()
	account, identity := &corev1.Secret{ObjectMeta: meta("account")}, &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: meta("identity")}
	internal := &gardencorev1beta1.InternalSecret{ObjectMeta: meta("internal")}
	small, large := &gardencorev1beta1.Quota{ObjectMeta: meta("small")}, &gardencorev1beta1.Quota{ObjectMeta: meta("large")}

	first, second := secretBinding("first", "small", "large"), secretBinding("second", "large")
	other := credentialsBinding("other", "v1", "Secret", "account")
	byIdentity := credentialsBinding("by-identity", "security.gardener.cloud/v1alpha1", "WorkloadIdentity", "identity", "small")
	byInternal := credentialsBinding("by-internal", "core.gardener.cloud/v1beta1", "InternalSecret", "internal")
	c := newClient(t, account, identity, internal, small, large, first, second, other, byIdentity, byInternal)
	garden := &kit.Base{Client: c, Reader: c}
	secrets, credentials := binding.Protection(binding.Secret()), binding.Protection(binding.Credentials())

	do := func(step func(context.Context, *kit.Base, client.Object) error, what client.Object) {
		t.Helper()
		if err := step(t.Context(), garden, what); err != nil {
			t.Fatal(err)
		}
	}
	check := func(rule string, want map[client.Object]string) {
		t.Helper()
		for object, marked := range want {
			if diff := cmp.Diff(marked, marks(t, c, object)); diff != "" {
				t.Errorf("%s: marks of %T %s (-want +got):\n%s", rule, object, object.GetName(), diff)
			}
		}
	}

	for _, b := range []client.Object{first, second} {
		do(secrets.Hold, b)
	}
	for _, b := range []client.Object{other, byIdentity, byInternal} {
		do(credentials.Hold, b)
	}
	check("GCM-SECRETBINDING-1, GCM-CREDBINDING-1: credentials are held and labelled, quotas labelled", map[client.Object]string{
		account:  "secretbinding credentialsbinding @cloud @local ~credentialsbinding ~secretbinding",
		identity: "credentialsbinding @cloud ~credentialsbinding", internal: "credentialsbinding @cloud ~credentialsbinding",
		small: "~credentialsbinding ~secretbinding", large: "~secretbinding",
	})

	do(secrets.Free, first)
	check("GCM-SECRETBINDING-2: what another binding names stays marked, a quota that none names does not", map[client.Object]string{
		account: "secretbinding credentialsbinding @cloud @local ~credentialsbinding ~secretbinding",
		small:   "~credentialsbinding", large: "~secretbinding",
	})
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	do(secrets.Free, second)
	check("GCM-SECRETBINDING-2: with the last SecretBinding its marks go, those of the other kind stay", map[client.Object]string{
		account: "credentialsbinding @cloud ~credentialsbinding", large: "",
	})
	for _, b := range []client.Object{other, byIdentity, byInternal} {
		do(credentials.Free, b)
	}
	check("GCM-CREDBINDING-1: with the last CredentialsBinding all marks of credentials go", map[client.Object]string{
		account: "", identity: "", internal: "", small: "",
	})

	if err := c.Delete(t.Context(), identity); err != nil {
		t.Fatal(err)
	}
	// What is gone blocks nothing.
	do(credentials.Free, byIdentity)
}

// TestBothLeave_GCM_SECRETBINDING_2 releases one of two bindings that are deleted together: neither may wait for the other.
func TestBothLeave_GCM_SECRETBINDING_2(t *testing.T) {
	t.Parallel()
	account, small := &corev1.Secret{ObjectMeta: meta("account")}, &gardencorev1beta1.Quota{ObjectMeta: meta("small")}
	first, second := secretBinding("first", "small"), secretBinding("second", "small")
	for _, b := range []client.Object{first, second} {
		b.SetFinalizers([]string{"gardener"})
	}
	c := newClient(t, account, small, first, second)
	garden, protection := &kit.Base{Client: c, Reader: c}, binding.Protection(binding.Secret())
	for _, b := range []client.Object{first, second} {
		if err := protection.Hold(t.Context(), garden, b); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := protection.Free(t.Context(), garden, first); err != nil {
		t.Fatal(err)
	}
	if got := marks(t, c, account) + marks(t, c, small); got != "" {
		t.Errorf("a binding in deletion holds nothing any more, got marks %q", got)
	}
}

// TestUsedInDeletion_GCM_SECRETBINDING_2 deletes both of two bindings, of which a Shoot still uses one.
func TestUsedInDeletion_GCM_SECRETBINDING_2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		used   client.Object
		shoot  func(*gardencorev1beta1.ShootSpec)
		// account and quota are the marks that stay.
		account, quota string
	}{
		"same kind": {
			reason: "what the Shoot needs stays held", used: secretBinding("first", "small"),
			shoot:   func(s *gardencorev1beta1.ShootSpec) { s.SecretBindingName = new("first") },
			account: "secretbinding @local ~secretbinding", quota: "~secretbinding",
		},
		"other kind": {
			reason: "and labelled for its provider", used: credentialsBinding("first", "v1", "Secret", "account", "small"),
			shoot:   func(s *gardencorev1beta1.ShootSpec) { s.CredentialsBindingName = new("first") },
			account: "credentialsbinding @cloud ~credentialsbinding", quota: "~credentialsbinding",
		},
		"other name": {
			reason: "a binding of that name and of the other kind is another one", used: secretBinding("first", "small"),
			shoot: func(s *gardencorev1beta1.ShootSpec) { s.CredentialsBindingName = new("first") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account, small := &corev1.Secret{ObjectMeta: meta("account")}, &gardencorev1beta1.Quota{ObjectMeta: meta("small")}
			second, shoot := secretBinding("second", "small"), &gardencorev1beta1.Shoot{ObjectMeta: meta("sprout")}
			tc.shoot(&shoot.Spec)
			for _, b := range []client.Object{tc.used, second} {
				b.SetFinalizers([]string{"gardener"})
			}
			c := newClient(t, account, small, tc.used, second, shoot)
			garden, protection := &kit.Base{Client: c, Reader: c}, binding.Protection(binding.Secret())
			if err := protection.Hold(t.Context(), garden, second); err != nil {
				t.Fatal(err)
			}
			if _, is := tc.used.(*gardensecurityv1alpha1.CredentialsBinding); is {
				if err := binding.Protection(binding.Credentials()).Hold(t.Context(), garden, tc.used); err != nil {
					t.Fatal(err)
				}
			}
			for _, b := range []client.Object{tc.used, second} {
				if err := c.Delete(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			if err := protection.Free(t.Context(), garden, second); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.account, tc.quota}, []string{marks(t, c, account), marks(t, c, small)}); diff != "" {
				t.Errorf("%s\nmarks of the Secret and of the quota (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
