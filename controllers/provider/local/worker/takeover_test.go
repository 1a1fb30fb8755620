// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// older makes what an older version left of the pool: a Secret that owns two pods, one of them of an earlier hash, and their user data.
func (w *world) older(t *testing.T, hash string) *corev1.Secret {
	t.Helper()
	old := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "machine-deployment-small", UID: "old",
		Labels: map[string]string{"gardener.cloud/purpose": "machineclass", "worker.gardener.cloud/name": "sprout"},
	}}
	objects := []client.Object{old}
	for name, hash := range map[string]string{"machine-small-x-aaaaa": hash, "machine-small-y-bbbbb": "before"} {
		meta := metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{
				"app": "machine", "local.provider.extensions.gardener.cloud/machine-deployment": old.Name, "local.provider.extensions.gardener.cloud/hash": hash,
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(old, corev1.SchemeGroupVersion.WithKind("Secret"))},
		}
		objects = append(objects, &corev1.Pod{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: meta})
	}
	for _, o := range objects {
		if err := w.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return old
}

// TestTakeOver: the pods of an older version become Machines. One that is as wanted stays, and nothing of the old way is left that would
// take them along.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wanted, err := render(newPool(), "data", newCluster(""))
	if err != nil {
		t.Fatal(err)
	}
	old := w.older(t, hashOf(wanted[0]))
	_ = w.actor.Reconcile(t.Context(), newWorker(newPool()), newCluster(""))
	list := &gardenmachinev1alpha1.MachineList{}
	if err := w.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range list.Items {
		got[m.Name+" "+m.Spec.ProviderID] = m.Spec.Class.Name
	}
	want := map[string]string{
		namespace + "-small-x-aaaaa local:///shoot--dev--sprout/machine-small-x-aaaaa": w.deployment(t, "small").Spec.Template.Spec.Class.Name,
		namespace + "-small-y-bbbbb local:///shoot--dev--sprout/machine-small-y-bbbbb": namespace + "-small-before",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines and their classes (-want +got):\n%s", diff)
	}
	sets := &gardenmachinev1alpha1.MachineSetList{}
	if err := w.List(t.Context(), sets); err != nil || len(sets.Items) != 2 || sets.Items[0].Spec.Replicas != 1 {
		t.Errorf("machine sets are %+v, %v", sets.Items, err)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(old), old); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret of the set is left: %v", err)
	}
	w.ownerless(t)
}

// ownerless fails the test if a machine would go with the Secret of the older version.
func (w *world) ownerless(t *testing.T) {
	t.Helper()
	pods, secrets := &corev1.PodList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{pods, secrets} {
		if err := w.List(t.Context(), list, client.MatchingLabels{"app": "machine"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(pods.Items) != 2 || len(secrets.Items) != 2 {
		t.Errorf("%d pods and %d user data are left, want 2 of each", len(pods.Items), len(secrets.Items))
	}
	for _, pod := range pods.Items {
		if len(pod.OwnerReferences) != 0 {
			t.Errorf("pod %q goes with %v", pod.Name, pod.OwnerReferences)
		}
	}
	for _, secret := range secrets.Items {
		if len(secret.OwnerReferences) != 0 {
			t.Errorf("user data %q go with %v", secret.Name, secret.OwnerReferences)
		}
	}
}

// TestTakeOverToDelete: a shoot that is deleted right after an upgrade leaves nothing.
func TestTakeOverToDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.older(t, "any")
	awaits(t, w.actor.Delete(t.Context(), newWorker(newPool()), nil), "Waiting for 2 machines to stop")
	list := &gardenmachinev1alpha1.MachineList{}
	if err := w.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Items {
		if m.Labels[gardenmachinev1alpha1.LabelForceDeletion] != "True" {
			t.Errorf("machine %q would be drained", m.Name)
		}
	}
	if got := w.deployments(t); len(got) != 0 {
		t.Errorf("machine deployments are left: %v", got)
	}
}
