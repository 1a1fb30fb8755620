// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

type (
	gardenlet   = gardenseedmanagementv1alpha1.Gardenlet
	managedSeed = gardenseedmanagementv1alpha1.ManagedSeed
	set         = gardenseedmanagementv1alpha1.ManagedSeedSet
	deployment  = gardenseedmanagementv1alpha1.GardenletDeployment
	repository  = gardencorev1.OCIRepository
)

// internal is the part of a Seed that does not follow from its shoot.
const internal = `"spec":{"dns":{"internal":{"type":"local","domain":"internal.example.org",` +
	`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"internal"}}}}`

// settings is the configuration of a gardenlet with the given fields, and with a seed unless they have one.
func settings(fields string) runtime.RawExtension {
	if !strings.Contains(fields, `"seedConfig"`) {
		fields += `,"seedConfig":{"metadata":{"labels":{"set":"soil"}},` + internal + `}`
	}
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
	s.Spec.ShootTemplate.Spec = gardencorev1beta1.ShootSpec{
		CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
		Region:                 "local",
		CredentialsBindingName: new("local"),
		Kubernetes:             gardencorev1beta1.Kubernetes{Version: "1.33.2"},
		Networking:             &gardencorev1beta1.Networking{Type: new("local"), Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16")},
		Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
			Name: "worker", Minimum: 1, Maximum: 1, MaxSurge: new(intstr.FromInt32(1)),
			Machine: gardencorev1beta1.Machine{Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local"}},
		}}},
	}
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
