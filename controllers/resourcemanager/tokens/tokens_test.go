// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/tokens"
)

// TestAnotherWriterIsNotOverwritten_GRM_TOKREQ_11 is about a Secret that somebody changes while a token for it is requested.
func TestAnotherWriterIsNotOverwritten_GRM_TOKREQ_11(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "s", Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor"},
		Annotations: map[string]string{"serviceaccount.resources.gardener.cloud/name": "a", "serviceaccount.resources.gardener.cloud/namespace": "ns"},
	}, Data: map[string][]byte{"token": []byte("old")}}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed, interfered := fake.NewClientBuilder().WithScheme(types).WithObjects(secret).Build(), false
	// The service account is of the shoot, but to request a token needs none of what is particular to one.
	shoot := interceptor.NewClient(fake.NewClientBuilder().WithScheme(types).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, review := object.(*authenticationv1.TokenReview); review {
				return nil // the shoot does not know the token
			}
			return c.Create(ctx, object, options...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, object, request client.Object, options ...client.SubResourceCreateOption) error {
			if !interfered {
				interfered = true
				live := &corev1.Secret{}
				if err := seed.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
					return err
				}
				live.Data["token"] = []byte("theirs")
				if err := seed.Update(ctx, live); err != nil {
					return err
				}
			}
			return c.SubResource(sub).Create(ctx, object, request, options...)
		},
	})
	r := &tokens.Reconciler{
		Base: kit.Base{Client: seed, Reader: seed, Clock: clock.RealClock{}},
		Targets: target.Finder{Seed: seed, Shoot: func(context.Context, string) (*kit.Shoot, error) {
			return &kit.Shoot{Client: shoot}, nil
		}},
	}
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(secret)}
	result, err := r.Reconcile(t.Context(), request)
	if err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	if err == nil && result.RequeueAfter == 0 {
		t.Error("the lost race is not tried again")
	}
	live := &corev1.Secret{}
	if err := seed.Get(t.Context(), request.NamespacedName, live); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"token": []byte("theirs")}, live.Data); diff != "" {
		t.Errorf("what the other writer wrote (-want +got):\n%s", diff)
	}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := seed.Get(t.Context(), request.NamespacedName, live); err != nil || string(live.Data["token"]) == "theirs" {
		t.Errorf("the next run leaves the token %q, %v", live.Data["token"], err)
	}
}
