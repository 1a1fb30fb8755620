// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// TestAsk_OPER_ROT_7 asks seeds in all states for new tokens while the key "new" takes the place of another one.
func TestAsk_OPER_ROT_7(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const operation, asked = "renew-garden-access-secrets", "seed.terrarium.garden/asked-for-service-account-key"
	answered, requested := map[string]string{asked: "new"}, map[string]string{asked: "new", "gardener.cloud/operation": operation}
	for name, tc := range map[string]struct {
		reason     string
		have, want map[string]string
		deleted    bool
		// waits is before it is asked.
		waits bool
	}{
		"Never":    {reason: "a seed is asked", want: requested, waits: true},
		"Former":   {reason: "it was asked for the key of an earlier rotation", have: map[string]string{asked: "former"}, want: requested, waits: true},
		"Asked":    {reason: "it has not answered yet", have: requested, want: requested, waits: true},
		"Answered": {reason: "nobody is asked twice", have: answered, want: answered},
		"Busy": {
			reason: "another operation is not overwritten, and the seed is waited for",
			have:   map[string]string{"gardener.cloud/operation": "reconcile"}, want: map[string]string{"gardener.cloud/operation": "reconcile"}, waits: true,
		},
		"BusyAgain": {
			reason: "it has answered, whatever it does now",
			have:   map[string]string{asked: "new", "gardener.cloud/operation": "reconcile"}, want: map[string]string{asked: "new", "gardener.cloud/operation": "reconcile"},
		},
		"Deleted": {reason: "nobody answers for a seed that is being deleted", deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1", Annotations: tc.have, Finalizers: []string{"gardener"}}}
			if tc.deleted {
				seed.DeletionTimestamp = new(metav1.Now())
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed).Build()
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
				t.Fatal(err)
			}
			r := tokenRenewal{operation: operation, asked: asked, key: "new"}
			if waits := r.waits(seed); waits != tc.waits {
				t.Errorf("%s: it is waited for: %t, want %t", tc.reason, waits, tc.waits)
			}
			if !tc.waits {
				return
			}
			if err := r.ask(t.Context(), c, seed); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, seed.Annotations); diff != "" {
				t.Errorf("%s: annotations (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if (tokenRenewal{operation: operation, asked: asked}).waits(&gardencorev1beta1.Seed{}) {
		t.Error("without a rotation no seed is waited for")
	}
}
