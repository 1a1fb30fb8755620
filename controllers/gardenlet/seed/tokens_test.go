// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestTokensAreRenewed_GLET_SEED_11 asks for new tokens of one kind: they are due at once, in whatever namespace they are, those of the
// other kind are not, and the request is taken off although the seed has other problems.
func TestTokensAreRenewed_GLET_SEED_11(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const (
		garden   = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
		identity = "workloadidentity.security.gardener.cloud/token-renew-timestamp"
	)
	tomorrow := time.Unix(1000, 0).Add(24 * time.Hour).UTC().Format(time.RFC3339)
	token := func(namespace, name, renewal string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Annotations: map[string]string{renewal: tomorrow, "kept": "yes"}},
			Data:       map[string][]byte{"token": []byte("t")},
		}
	}
	ofIdentity := map[string]string{"security.gardener.cloud/purpose": "workload-identity-token-requestor"}
	ofGarden := map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "garden"}
	cases := map[string]struct {
		operation string
		want      []string
	}{
		"Identities": {operation: "renew-workload-identity-tokens", want: []string{"extension-x/cloud", "shoot--dev--a/cloudprovider"}},
		"Garden":     {operation: "renew-garden-access-secrets", want: []string{"extension-x/garden"}},
		"Neither":    {operation: "reconcile"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{
				Name: "one", Finalizers: []string{"gardener"}, Annotations: map[string]string{"gardener.cloud/operation": tc.operation},
			}}
			inSeed := []client.Object{
				token("shoot--dev--a", "cloudprovider", identity, ofIdentity), token("extension-x", "cloud", identity, ofIdentity),
				token("extension-x", "garden", garden, ofGarden),
				token("extension-x", "foreign", identity, nil), token("extension-x", "shoot", garden, map[string]string{"resources.gardener.cloud/purpose": "token-requestor"}),
			}
			r := &seed.Reconciler{
				SeedBase: kit.SeedBase{
					GardenClient: fake.NewClientBuilder().WithScheme(types).WithObjects(object).WithStatusSubresource(object).Build(),
					SeedClient:   fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build(),
					Clock:        clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
				},
				KubernetesVersion: func() (string, error) { return "", errors.New("the seed is upgraded right now") },
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}}); err == nil {
				t.Error("Reconcile(...) returned no error for a seed without a version")
			}
			if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			if operation := object.Annotations["gardener.cloud/operation"]; operation != "" {
				t.Errorf("the request %q is still there", operation)
			}

			list := &corev1.SecretList{}
			if err := r.SeedClient.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			var renewed []string
			for i := range list.Items {
				s := &list.Items[i]
				if s.Annotations[garden] == "" && s.Annotations[identity] == "" {
					renewed = append(renewed, s.Namespace+"/"+s.Name)
				}
				if s.Annotations["kept"] != "yes" || string(s.Data["token"]) != "t" {
					t.Errorf("Secret %q has lost what others rely on: %v", s.Name, s.Annotations)
				}
			}
			if diff := cmp.Diff(tc.want, renewed); diff != "" {
				t.Errorf("tokens to renew (-want +got):\n%s", diff)
			}
			for i := range list.Items {
				due := workloadidentity.Issuer{Clock: r.Clock}.Due(&list.Items[i]) <= 0
				if asked := tc.operation == "renew-workload-identity-tokens"; list.Items[i].Name == "cloudprovider" && due != asked {
					t.Errorf("the keeper of the token finds it due: %t, want %t", due, asked)
				}
			}
		})
	}
}
