// SPDX-License-Identifier: Apache-2.0

package shootmanagedseed_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmanagedseed"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	return admissiontest.Shoot(append([]func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) {
		s.Namespace = "garden"
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
		s.Spec.Networking.Nodes = new("10.0.0.0/16")
		s.Spec.Provider.Workers[0].Zones = []string{"a", "b", "c"}
	}}, change...)...)
}

func managed(of string) *gardenseedmanagementv1alpha1.ManagedSeed {
	return &gardenseedmanagementv1alpha1.ManagedSeed{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "child"},
		Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
			Shoot:        &gardenseedmanagementv1alpha1.Shoot{Name: of},
			SeedTemplate: &gardencorev1beta1.SeedTemplate{},
		},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	seed := []kind.Object{managed("sprout"), admissiontest.Seed("child")} // It uses the zones a and b.
	other := []kind.Object{managed("other"), admissiontest.Seed("child")}
	nginx := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}}}
	}
	vpa := func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler.Enabled = false }
	nodes := func(s *gardencorev1beta1.Shoot) { s.Spec.Networking.Nodes = new("10.3.0.0/16") }
	zones := func(z ...string) func(s *gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Zones = z }
	}
	update := func(change ...func(*gardencorev1beta1.Shoot)) admissiontest.Request {
		return admissiontest.Request{Object: shoot(change...), Old: shoot()}
	}
	going := shoot(vpa)
	going.DeletionTimestamp = new(metav1.Now())
	admissiontest.Run(t, shootmanagedseed.New, map[string]admissiontest.Case{
		"API-SMS-1 seed":    {Reason: "a seed is not deleted by deleting its shoot", Objects: seed, Request: admissiontest.Request{Old: shoot()}, Refused: []string{`ManagedSeed "child"`}},
		"API-SMS-1 no seed": {Reason: "other shoots may go", Objects: other, Request: admissiontest.Request{Old: shoot()}},
		"API-SMS-1 project": {Reason: "a shoot of the same name elsewhere is another one", Objects: seed, Request: admissiontest.Request{Old: admissiontest.Shoot()}},
		"API-SMS-2 fine":    {Reason: "other changes are welcome", Objects: seed, Request: update(zones("a", "b"))},
		"API-SMS-2 nginx":   {Reason: "a seed has its own ingress", Objects: seed, Request: update(nginx), Refused: []string{"nginxIngress"}},
		"API-SMS-2 vpa":     {Reason: "a seed needs the autoscaler", Objects: seed, Request: update(vpa), Refused: []string{"verticalPodAutoscaler"}},
		"API-SMS-2 nodes":   {Reason: "a seed keeps its network", Objects: seed, Request: update(nodes), Refused: []string{"spec.networking.nodes", "10.0.0.0/16"}},
		"API-SMS-2 zones":   {Reason: "a seed keeps its zones", Objects: seed, Request: update(zones("a", "c")), Refused: []string{`zone "b"`}},
		"API-SMS-2 no seed": {Reason: "other shoots may do all of it", Objects: other, Request: update(nginx, vpa, nodes, zones("c"))},
		"API-ADM-6 going":   {Reason: "a shoot that is going can lose its finalizer", Objects: seed, Request: admissiontest.Request{Object: going, Old: shoot()}},
	})
}

// TestMessage shows what the user reads who would delete the shoot of a seed in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, managed("sprout"), admissiontest.Seed("child"))
	err := g.Ask(shootmanagedseed.New(g.World), admissiontest.Request{Old: shoot()})
	want := `shoots.core.gardener.cloud "sprout" is forbidden: the shoot is the seed of ManagedSeed "child"; delete that first`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

// TestLooksPastTheCache_API_SMS_1 deletes a shoot right after it was made a seed.
func TestLooksPastTheCache_API_SMS_1(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, managed("sprout"), admissiontest.Seed("child"))
	err := g.Ask(shootmanagedseed.New(g.Behind("managedseeds")), admissiontest.Request{Old: shoot()})
	if !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden: ManagedSeeds are listed from the store, not from the cache", err)
	}
}
