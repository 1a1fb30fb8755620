// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

type (
	gardenlet   = gardenseedmanagementv1alpha1.Gardenlet
	managedSeed = gardenseedmanagementv1alpha1.ManagedSeed
	set         = gardenseedmanagementv1alpha1.ManagedSeedSet
	deployment  = gardenseedmanagementv1alpha1.GardenletDeployment
	repository  = gardencorev1.OCIRepository
)

// settings is the configuration of a gardenlet with the given fields.
func settings(fields string) runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(
		`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration"` + fields + `}`)}
}

func seedOf(change ...func(*managedSeed)) *managedSeed {
	m := &managedSeed{
		ObjectMeta: metav1.ObjectMeta{Name: "soil", Namespace: "garden", ResourceVersion: "1"},
		Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
			Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: "sprout"},
			Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{
				Config: settings(""), Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), MergeWithParent: new(true),
			},
		},
	}
	for _, c := range change {
		c(m)
	}
	return m
}

func setOf(change ...func(*set)) *set {
	labels := map[string]string{"set": "soil"}
	s := &set{
		ObjectMeta: metav1.ObjectMeta{Name: "soil", Namespace: "garden", ResourceVersion: "1"},
		Spec: gardenseedmanagementv1alpha1.ManagedSeedSetSpec{
			Replicas: new(int32(2)), Selector: metav1.LabelSelector{MatchLabels: labels},
		},
	}
	s.Spec.Template.Labels, s.Spec.ShootTemplate.Labels = labels, labels
	s.Spec.Template.Spec = seedOf().Spec
	s.Spec.Template.Spec.Shoot = nil
	for _, c := range change {
		c(s)
	}
	return s
}

func gardenletOf(change ...func(*gardenlet)) *gardenlet {
	g := &gardenlet{ObjectMeta: metav1.ObjectMeta{Name: "soil", Namespace: "garden", ResourceVersion: "1"}}
	g.Spec.Deployment.Helm.OCIRepository = repository{Repository: new("registry.example/gardenlet"), Tag: new("v1.0.0")}
	g.Spec.Config = settings("")
	for _, c := range change {
		c(g)
	}
	return g
}
