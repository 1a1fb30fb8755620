// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestSeedsHoldNoProject has a gardenlet leave something in a project that nobody could remove: the project could not be deleted even after the
// shoot had left the seed (GAC-SR-9, GAC-SR-10, GAC-SR-13).
func TestSeedsHoldNoProject(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	one := o.acting(seedRole("one"))
	meta := func(name string, finalizers ...string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "garden-meadow", Name: name, Finalizers: finalizers, Labels: map[string]string{"gardener.cloud/update-restriction": "true"},
		}
	}
	const stay = "example.com/stay"
	refusedWith(t, one.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta("mine.ca-kubelet", stay)}), "metadata.finalizers", "a ConfigMap that not even operators may write")
	refusedWith(t, one.Create(t.Context(), &corev1.Secret{ObjectMeta: meta("mine.ssh-keypair.old", stay)}), "metadata.finalizers", "a Secret likewise")
	refusedWith(t, one.Create(t.Context(), &gardencorev1beta1.ShootState{ObjectMeta: meta("mine", stay)}), "metadata.finalizers", "members of the project have no access to states")
	config := &corev1.ConfigMap{ObjectMeta: meta("mine.ca-kubelet")}
	if err := one.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["`+stay+`"]}}`))
	refusedWith(t, one.Patch(t.Context(), config, patch), "metadata.finalizers", "the finalizer does not come later")
}
