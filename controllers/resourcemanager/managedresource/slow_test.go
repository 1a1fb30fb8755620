// SPDX-License-Identifier: Apache-2.0

package managedresource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

// TestSlowShoots: in a shoot whose webhooks take almost as long as a request may, a run ends in time, says why, and is tried again later.
// The next one has the time that its objects need.
func TestSlowShoots(t *testing.T) {
	t.Parallel()
	const objects = 20
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "m"}}
	mr.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "m"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: mr.Namespace, Name: "m"}, Data: map[string][]byte{}}
	for i := range objects {
		secret.Data[fmt.Sprintf("%d.yaml", i)] = fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: c%d}\n", i)
	}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		seed := fake.NewClientBuilder().WithScheme(types).WithObjects(mr, secret).WithStatusSubresource(mr).Build()
		shoot := interceptor.NewClient(cluster(t), interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				return errors.Join(late(ctx), c.Patch(ctx, object, patch, options...))
			},
			Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
				return errors.Join(late(ctx), c.Apply(ctx, object, options...))
			},
		})
		r := &managedresource.Reconciler{
			Base: kit.Base{Client: seed, Reader: seed, Clock: clock.RealClock{}}, SyncPeriod: time.Minute,
			Targets: target.Finder{Seed: seed, Shoot: func(context.Context, string) (*kit.Shoot, error) { return &kit.Shoot{Client: shoot}, nil }},
		}
		for _, limit := range []time.Duration{time.Minute, time.Minute + objects*time.Second} {
			began := time.Now()
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mr)})
			if took := time.Since(began); took != limit {
				t.Errorf("the run has ended after %s, want %s", took, limit)
			}
			if !errors.Is(err, target.ErrSlow) {
				t.Errorf("Reconcile(...) = %v, want an error, so that the next run waits longer each time", err)
			}
			live := &gardenresourcesv1alpha1.ManagedResource{}
			if err := seed.Get(t.Context(), client.ObjectKeyFromObject(mr), live); err != nil {
				t.Fatal(err)
			}
			applied := query.FindCondition(live.Status.Conditions, "ResourcesApplied")
			if applied == nil || applied.Status != "False" || !strings.HasPrefix(applied.Message, "the API server or its webhooks answer too slowly: the run was ended after "+limit.String()) {
				t.Errorf("the condition is %+v", applied)
			}
		}
	})
}

// late takes 29 seconds.
func late(ctx context.Context) error {
	select {
	case <-time.After(29 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
