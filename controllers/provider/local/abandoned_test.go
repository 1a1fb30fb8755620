// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/bastion"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/infrastructure"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

// steps of the deletion of a shoot, as far as they need the cluster of its machines.
func steps(ctx context.Context, p *cloudtest.Place, cluster *engine.Cluster) map[string]error {
	access := engine.Access{Reader: p, Seed: deploy.Engine{Client: p, Owner: "test", Clock: clock.RealClock{}}}
	meta, find := metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "sprout"}, p.Clouds.Of
	return map[string]error{
		"worker":         (&worker.Actor{Access: access, Cloud: find}).Delete(ctx, &gardenextensionsv1alpha1.Worker{ObjectMeta: meta}, cluster),
		"infrastructure": (&infrastructure.Actor{Access: access, Cloud: find}).Delete(ctx, &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: meta}, cluster),
		"record":         (&dnsrecord.Actor{Access: access, Cloud: find}).Delete(ctx, &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: meta}, cluster),
		"bastion":        (&bastion.Actor{Access: access, Cloud: find}).Delete(ctx, &gardenextensionsv1alpha1.Bastion{ObjectMeta: meta}, cluster),
	}
}

// forceable reports whether the owner of a shoot whose deletion has failed with these codes may force it.
func forceable(codes []gardencorev1beta1.ErrorCode) bool {
	old := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "sprout", Namespace: "garden-dev", DeletionTimestamp: &metav1.Time{Time: time.Unix(1e9, 0)}}}
	old.Status.LastErrors = []gardencorev1beta1.LastError{{Codes: codes}}
	forced := old.DeepCopy()
	forced.Annotations = map[string]string{gardencorev1beta1.AnnotationConfirmationForceDeletion: "true"}
	for _, complaint := range validation.ValidateShootUpdate(forced, old) {
		if strings.Contains(complaint.Field, gardencorev1beta1.AnnotationConfirmationForceDeletion) {
			return false
		}
	}
	return true
}

// TestAbandoned_API_VALSHOOT_25: a shoot whose cluster is gone, or does not let anybody in any more, can be deleted by force. As long as it
// is not deleted, that is no reason to give it up.
func TestAbandoned_API_VALSHOOT_25(t *testing.T) {
	t.Parallel()
	if forceable(nil) {
		t.Fatal("every deletion can be forced, so this test proves nothing")
	}
	for want, failure := range map[gardencorev1beta1.ErrorCode]error{
		gardencorev1beta1.ErrorCodeInfraDependencies:    errors.New("no route to host"),
		gardencorev1beta1.ErrorCodeInfraUnauthenticated: apierrors.NewUnauthorized("the token has expired"),
		gardencorev1beta1.ErrorCodeInfraUnauthorized:    apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "kube-system", nil),
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, cloudtest.Kubeconfig)
			generic := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: gardencorev1beta1.SecretGenericTokenKubeconfig}}
			if err := p.Create(t.Context(), generic); err != nil {
				t.Fatal(err)
			}
			p.Record(t, p.Find(t))
			other, _ := p.Other.(client.WithWatch)
			p.Other = interceptor.NewClient(other, interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return failure
				},
			})
			p.Provide(t, cloudtest.Kubeconfig+"# expired\n")
			cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			all := func() map[string]error {
				errs := steps(t.Context(), p, cluster)
				actor := &controlplane.Actor{Access: engine.Access{Reader: p}, Cloud: p.Clouds.Of}
				errs["controlplane"] = actor.Reconcile(t.Context(), &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: cloudtest.Namespace}}, cluster)
				return errs
			}
			for step, err := range all() {
				if err == nil || len(operation.Codes(err)) > 0 {
					t.Errorf("%s of a shoot that is used: %v, codes %v", step, err, operation.Codes(err))
				}
			}
			cluster.Shoot.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
			for step, err := range all() {
				codes := operation.Codes(err)
				if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{want}, codes); diff != "" || !forceable(codes) {
					t.Errorf("%s: %v, can be forced: %t, codes (-want +got):\n%s", step, err, forceable(codes), diff)
				}
			}
			cluster.Shoot.Annotations = map[string]string{gardencorev1beta1.AnnotationConfirmationForceDeletion: "true"}
			for step, err := range steps(t.Context(), p, cluster) {
				if err != nil {
					t.Errorf("%s by force: %v", step, err)
				}
			}
		})
	}
}

// TestMachinesThatMayNotBeDeleted_API_VALSHOOT_25: credentials may let the machines be seen, but not be deleted. The Worker says so instead of
// waiting for another client to delete them, and nothing is deleted by asking.
func TestMachinesThatMayNotBeDeleted_API_VALSHOOT_25(t *testing.T) {
	t.Parallel()
	for reason, refused := range map[string]client.Object{"pods": &corev1.Pod{}, "user data": &corev1.Secret{}, "nothing": nil} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, cloudtest.Kubeconfig)
			p.Record(t, p.Find(t))
			own := metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "small", Labels: map[string]string{
				gardencorev1beta1.LabelWorkerName: "sprout", "name": "small",
			}, Finalizers: []string{"machine.sapcloud.io/machine-controller-manager"}}
			there := metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "machine-small", Labels: machinepod.Labels()}
			for _, o := range []client.Object{&gardenmachinev1alpha1.MachineDeployment{ObjectMeta: own}, &gardenmachinev1alpha1.Machine{ObjectMeta: own}} {
				if err := p.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			for _, o := range []client.Object{&corev1.Pod{ObjectMeta: there}, &corev1.Secret{ObjectMeta: there}} {
				if err := p.Other.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			other, _ := p.Other.(client.WithWatch)
			p.Other = interceptor.NewClient(other, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					if reflect.TypeOf(o) == reflect.TypeOf(refused) {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, o.GetName(), nil)
					}
					return c.Delete(ctx, o, options...)
				},
			})
			p.Provide(t, cloudtest.Kubeconfig+"# narrowed\n")
			cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			cluster.Shoot.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
			err = steps(t.Context(), p, cluster)["worker"]
			if _, waits := kit.WaitReason(err); refused == nil && !waits {
				t.Errorf("Delete(...) = %v, want it to wait for the machine", err)
			}
			if codes := operation.Codes(err); refused != nil && (!slices.Contains(codes, gardencorev1beta1.ErrorCodeInfraUnauthorized) || !forceable(codes)) {
				t.Errorf("Delete(...) = %v with codes %v, want one that lets the owner force the deletion", err, codes)
			}
			if left := cloudtest.Count(t, p.Other, &corev1.PodList{}, &corev1.SecretList{}); left != 2 {
				t.Errorf("%d objects are left of the machine, want the question to delete nothing", left)
			}
		})
	}
}
