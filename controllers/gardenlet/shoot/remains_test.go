// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// TestControlPlaneIsDeployedAgain_GLET_DEL_1: the control plane of the cloud provider cleans up with the infrastructure of now. One that has never
// worked is not asked for, because nothing has been made with it, and its extension may never succeed.
func TestControlPlaneIsDeployedAgain_GLET_DEL_1(t *testing.T) {
	t.Parallel()
	create, reconcile := gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeReconcile
	for reason, tc := range map[string]struct {
		last *gardencorev1beta1.LastOperation
		want []string
	}{
		"it was created":      {&gardencorev1beta1.LastOperation{Type: create, State: "Succeeded"}, []string{`{"now":true}`}},
		"its last run failed": {&gardencorev1beta1.LastOperation{Type: reconcile, State: "Error"}, []string{`{"now":true}`}},
		"it has never worked": {&gardencorev1beta1.LastOperation{Type: create, State: "Error"}, nil},
		"it was never seen":   {nil, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			b.give(t, b.inside, machineNode())
			b.run(t)
			infrastructure := &gardenextensionsv1alpha1.Infrastructure{}
			if err := b.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "a"}, infrastructure); err != nil {
				t.Fatal(err)
			}
			infrastructure.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"now":true}`)}
			if err := b.SeedClient.Update(t.Context(), infrastructure); err != nil {
				t.Fatal(err)
			}
			var got []string
			seed, _ := b.SeedClient.(client.WithWatch)
			b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
					if err := c.Get(ctx, key, obj, options...); err != nil {
						return err
					}
					if control, ok := obj.(*gardenextensionsv1alpha1.ControlPlane); ok && len(got) == 0 {
						control.Status.LastOperation = tc.last
					}
					return nil
				},
				Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
					control, ok := obj.(*gardenextensionsv1alpha1.ControlPlane)
					if ok && control.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile {
						got = append(got, string(control.Spec.InfrastructureProviderStatus.Raw))
					}
					return c.Patch(ctx, obj, patch, options...)
				},
			})
			b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
			b.run(t)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the control plane was asked for with the infrastructure (-want +got):\n%s", diff)
			}
			if left := found(t, b.SeedClient, inSeed()...); len(left) > 0 {
				t.Errorf("the deletion leaves %v", left)
			}
		})
	}
}
