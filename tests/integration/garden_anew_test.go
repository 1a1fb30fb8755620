// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestStatusOfObjectMadeAnew_GCM_ROBUST_2 writes the status of a shoot that was deleted and made anew under its name, without the lock on its
// version. What was found out about the former one must not be told of the new one.
func TestStatusOfObjectMadeAnew_GCM_ROBUST_2(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("cloud")
	namespace := *o.project("dev").Spec.Namespace
	former := o.shoot(namespace, "a", "cloud")
	doomed := former.DeepCopy()
	o.confirm(doomed)
	o.gone(doomed, "the former shoot is gone")
	o.shoot(namespace, "a", "cloud")

	commit := kit.Begin(o.Client, former)
	former.Status.TechnicalID = "shoot--dev--a"
	if err := commit.WriteOwnStatus(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("WriteOwnStatus(...) = %v, want that the object is gone", err)
	}
	found := &gardencorev1beta1.Shoot{}
	if err := o.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, found); err != nil {
		t.Fatal(err)
	}
	if found.Status.TechnicalID != "" {
		t.Error("the new shoot has the status of the former one")
	}

	// Only the UID counts: what others have written to the object is no reason to refuse.
	late := found.DeepCopy()
	o.change(found, func() { found.Labels = map[string]string{"changed": "meanwhile"} })
	commit = kit.Begin(o.Client, late)
	late.Status.TechnicalID = "shoot--dev--a"
	if err := commit.WriteOwnStatus(t.Context()); err != nil {
		t.Errorf("WriteOwnStatus(...) = %v, want it to be written whatever others have written", err)
	}
}
