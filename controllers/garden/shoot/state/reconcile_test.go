// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/state"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestReconcile_GCM_SHOOTSTATE_1 has states of shoots, as the server shows these.
func TestReconcile_GCM_SHOOTSTATE_1(t *testing.T) {
	t.Parallel()
	const held, other = "core.gardener.cloud/shootstate", "test/held"
	errBoom := errors.New("boom")
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		before []string
		ending bool
		// last is the type of the last operation of the shoot; empty if there is no shoot.
		last  gardencorev1beta1.LastOperationType
		fails any
		want  []string
	}{
		"moves":          {reason: "it is the only copy", last: "Migrate", want: []string{held}},
		"moves, held":    {reason: "which stays so", before: []string{held}, last: "Migrate", want: []string{held}},
		"arrived":        {reason: "the new seed has it", before: []string{held, other}, last: "Reconcile", want: []string{other}},
		"gone":           {reason: "nobody needs it without its shoot", before: []string{held, other}, want: []string{other}},
		"ending":         {reason: "what is being deleted gets no finalizer any more", before: []string{other}, ending: true, last: "Migrate", want: []string{other}},
		"ending, held":   {reason: "but keeps it as long as it is needed", before: []string{held}, ending: true, last: "Migrate", want: []string{held}},
		"ending, free":   {reason: "and then loses it", before: []string{held, other}, ending: true, last: "Reconcile", want: []string{other}},
		"unknown":        {reason: "a shoot that cannot be read may need it", before: []string{held}, last: "Reconcile", fails: &gardencorev1beta1.Shoot{}, want: []string{held}},
		"unknown itself": {reason: "it may be there", before: []string{held}, last: "Reconcile", fails: &metav1.PartialObjectMetadata{}, want: []string{held}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Finalizers: tc.before}}
			if tc.ending {
				kept.DeletionTimestamp = new(metav1.Now())
			}
			objects := []client.Object{kept}
			if tc.last != "" {
				shoot := &gardencorev1beta1.Shoot{ObjectMeta: kept.ObjectMeta}
				shoot.DeletionTimestamp, shoot.Finalizers = nil, nil
				shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: tc.last, State: "Processing"}
				objects = append(objects, shoot)
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).Build()
			less := interceptor.NewClient(c, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if tc.fails != nil && reflect.TypeOf(tc.fails) == reflect.TypeOf(o) {
						return errBoom
					}
					return c.Get(ctx, key, o, options...)
				},
			})
			r, key := &state.Reconciler{Base: kit.Base{Client: less, Reader: less}}, client.ObjectKeyFromObject(kept)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); (tc.fails != nil) != errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			if err := c.Get(t.Context(), key, kept); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, kept.Finalizers, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nfinalizers (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	absent := fake.NewClientBuilder().WithScheme(kinds).Build()
	r := &state.Reconciler{Base: kit.Base{Client: absent, Reader: absent}}
	if result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "a"}}); err != nil || !result.IsZero() {
		t.Errorf("Reconcile(...) = %v, %v of a shoot without a state, want rest", result, err)
	}
}
