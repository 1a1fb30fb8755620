// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
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

// TestServerThatServesNoMore_GLET_DEL_1 deletes a shoot without workers while its API server restarts. That it does not serve at this moment does
// not mean that nothing is in it; one that has never served is not waited for.
func TestServerThatServesNoMore_GLET_DEL_1(t *testing.T) {
	t.Parallel()
	hook := func() *admissionregistrationv1.ValidatingWebhookConfiguration {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "of-a-user"}}
	}
	for reason, entered := range map[string]bool{"it has served before": true, "it has never served": false} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t, func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider, s.Spec.Networking = gardencorev1beta1.Provider{Type: "local"}, nil
			})
			b.run(t)
			b.give(t, b.inside, hook())
			if !entered {
				access := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "shoot-access-gardener-resource-manager"}}
				if err := b.SeedClient.Delete(t.Context(), access); err != nil {
					t.Fatal(err)
				}
			}
			seed, _ := b.SeedClient.(client.WithWatch)
			b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
					err := c.Get(ctx, key, obj, options...)
					if server, ok := obj.(*appsv1.Deployment); ok && key.Name == "kube-apiserver" {
						server.Status = appsv1.DeploymentStatus{} // as it is when the deletion begins
					}
					return err
				},
			})
			b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
			b.run(t)
			err := b.inside.Get(t.Context(), client.ObjectKeyFromObject(hook()), hook())
			if cleaned := apierrors.IsNotFound(err); cleaned != entered {
				t.Errorf("the shoot was cleaned up: %t, want %t (error %v)", cleaned, entered, err)
			}
			if left := found(t, b.SeedClient, inSeed()...); len(left) > 0 {
				t.Errorf("the deletion leaves %v", left)
			}
		})
	}
}

// TestWhatIsLeftIsKnown_GLET_DEL_1 deletes a shoot on a seed that cannot say whether one thing is there. What is taken for missing is not cleaned
// up, and costs money for ever, so nothing is deleted before all is known.
func TestWhatIsLeftIsKnown_GLET_DEL_1(t *testing.T) {
	t.Parallel()
	for _, unknown := range []client.Object{
		&corev1.Namespace{}, &gardenextensionsv1alpha1.Infrastructure{}, &gardenextensionsv1alpha1.ControlPlane{}, &gardenextensionsv1alpha1.Network{},
		&gardenextensionsv1alpha1.Worker{}, &corev1.Secret{},
	} {
		kind := reflect.TypeOf(unknown)
		t.Run(kind.Elem().Name(), func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			errAway := errors.New("the seed does not answer")
			seed, _ := b.SeedClient.(client.WithWatch)
			b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
					if reflect.TypeOf(obj) == kind {
						return errAway
					}
					return c.Get(ctx, key, obj, options...)
				},
				Delete: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.DeleteOption) error {
					t.Errorf("%T %q is to be deleted", obj, obj.GetName())
					return nil
				},
			})
			b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
			synctest.Test(t, func(t *testing.T) {
				err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
				if !errors.Is(err, errAway) || !strings.Contains(err.Error(), "look for what is left in the seed") {
					t.Errorf("the deletion of a shoot on a seed that is away: error %v, want %q", err, errAway)
				}
			})
		})
	}
}

// TestNamespaceGoes_GLET_DEL_1 deletes a shoot whose namespace somebody has deleted already: nothing is deployed into that any more, and it is
// waited for. Extensions delete what they have made nevertheless: nobody else confirms that they may, and so the namespace could not go.
func TestNamespaceGoes_GLET_DEL_1(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a", Finalizers: []string{"example.com/hold"}}}
	there := metav1.ObjectMeta{Namespace: namespace.Name, Name: "a"}
	for _, object := range []client.Object{
		namespace, &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: there}, &gardenextensionsv1alpha1.Worker{ObjectMeta: there},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "kube-apiserver"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}},
	} {
		b.give(t, b.SeedClient, object)
	}
	if err := b.SeedClient.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	refuse := func(what any) error { return fmt.Errorf("%T cannot be written: the namespace is being deleted", what) }
	seed, _ := b.SeedClient.(client.WithWatch)
	b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			return refuse(obj)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if _, ok := obj.(gardenextensionsv1alpha1.Object); !ok || obj.GetAnnotations()["confirmation.gardener.cloud/deletion"] != "true" {
				return refuse(obj)
			}
			return c.Patch(ctx, obj, patch, options...)
		},
		Apply: func(_ context.Context, _ client.WithWatch, obj runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return refuse(obj)
		},
	})
	b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		go func() { ended <- shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, namespace.Name) }()
		time.Sleep(9 * time.Minute) // of the time of the bubble
		select {
		case err := <-ended:
			t.Fatalf("the deletion does not wait for the namespace: error %v", err)
		default:
		}
		if left := found(t, seed, gardenextensionsv1alpha1.GroupVersion.WithKind("Infrastructure"), gardenextensionsv1alpha1.GroupVersion.WithKind("Worker")); len(left) > 0 {
			t.Errorf("extensions were not asked to delete %v", left)
		}
		if err := seed.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace); err != nil {
			t.Fatal(err)
		}
		namespace.Finalizers = nil
		if err := seed.Update(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the namespace is gone, and the deletion ends with %v", err)
		}
	})
}
