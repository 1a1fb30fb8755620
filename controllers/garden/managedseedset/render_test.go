// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
)

func TestRender(t *testing.T) {
	t.Parallel()
	s := bed(1)
	before := s.DeepCopy()
	owner := []metav1.OwnerReference{{
		APIVersion: "seedmanagement.gardener.cloud/v1alpha1", Kind: "ManagedSeedSet", Name: "a", UID: "uid-a",
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	wantShoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "a-7", Labels: labelled(), Annotations: map[string]string{"note": "shoot"}, OwnerReferences: owner,
	}}
	wantShoot.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a-7.example.org")}
	if diff := cmp.Diff(wantShoot, managedseedset.NewShoot(s, "a-7")); diff != "" {
		t.Errorf("GCM-MSS-9: a shoot is made of the template (-want +got):\n%s", diff)
	}
	managed, err := managedseedset.NewManagedSeed(s, "a-7")
	if err != nil {
		t.Fatal(err)
	}
	wantManaged := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "a-7", Labels: labelled(), OwnerReferences: owner,
	}}
	wantManaged.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "a-7"}
	wantManaged.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{}
	wantManaged.Spec.Gardenlet.Config.Raw = []byte(`{"number":9007199254740993,"seedConfig":{"spec":{"ingress":{"domain":"ingress.a-7.example.org"}}}}`)
	if diff := cmp.Diff(wantManaged, managed); diff != "" {
		t.Errorf("GCM-MSS-8: so is its ManagedSeed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("the template stays as it is (-want +got):\n%s", diff)
	}
}
