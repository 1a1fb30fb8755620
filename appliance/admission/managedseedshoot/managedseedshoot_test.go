// SPDX-License-Identifier: Apache-2.0

package managedseedshoot_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/managedseedshoot"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}}
	on := func(seed string) []kind.Object {
		return []kind.Object{admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new(seed) })}
	}
	admissiontest.Run(t, managedseedshoot.New, map[string]admissiontest.Case{
		"API-MSS-1 used":   {Reason: "its shoots would lose their seed", Objects: on("a"), Request: admissiontest.Request{Old: m}, Refused: []string{"garden-meadow/sprout"}},
		"API-MSS-1 unused": {Reason: "without shoots it may go", Objects: on("b"), Request: admissiontest.Request{Old: m}},
		"API-MSS-1 update": {Reason: "only deletions matter", Objects: on("a"), Request: admissiontest.Request{Object: m, Old: m}},
	})
}

// TestMessage shows what the user reads who would delete a managed seed in use in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}}
	g := admissiontest.New(t, nil, admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }))
	err := g.Ask(managedseedshoot.New(g.World), admissiontest.Request{Old: m})
	want := `managedseeds.seedmanagement.gardener.cloud "a" is forbidden: the seed still runs shoots; delete or move them first: garden-meadow/sprout`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
