// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestTimelineOfADeletion has one person create a shoot and another one delete it, while its gardenlet has a finalizer in it. The library marks
// such an object in place.
func TestTimelineOfADeletion(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	mine := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "mine"}}
	member, gardenlet := o.acting(person("member")), o.acting(seedRole("one"))
	o.change(mine, func() { mine.Finalizers = append(mine.Finalizers, "gardener") })
	confirmation := []byte(`{"metadata":{"annotations":{"` + gardencorev1beta1.AnnotationConfirmationDeletion + `":"true"}}}`)
	if err := errors.Join(member.Patch(t.Context(), mine, client.RawPatch(types.MergePatchType, confirmation)), member.Delete(t.Context(), mine)); err != nil {
		t.Fatal(err)
	}
	if err := gardenlet.Get(t.Context(), client.ObjectKeyFromObject(mine), mine); err != nil || mine.DeletionTimestamp == nil {
		t.Fatalf("the shoot is in deletion: %v, %v", mine.DeletionTimestamp, err)
	}
	patch := client.MergeFrom(mine.DeepCopy())
	mine.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Delete", State: "Processing", Description: "Deleting", LastUpdateTime: metav1.Now()}
	if err := gardenlet.Status().Patch(t.Context(), mine, patch); err != nil {
		t.Fatal(err)
	}
	want := []string{"admin: Created", "member: Deletion requested", "gardenlet: Delete Processing: Deleting (requested by member)"}
	if diff := cmp.Diff(want, withoutServer(o.timeline(member, mine, len(want)))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
