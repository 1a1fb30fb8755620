// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

const emptyConfig = `{"kind":"GardenletConfiguration","apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","resources":{"capacity":{"shoots":"250"}},"logLevel":"","logFormat":"","server":{}}`

func deployed(policy corev1.PullPolicy, tag *string) gardenseedmanagementv1alpha1.GardenletDeployment {
	return gardenseedmanagementv1alpha1.GardenletDeployment{
		ReplicaCount: new(int32(2)), RevisionHistoryLimit: new(int32(2)), EnableHealthProbes: new(true),
		Image: &gardenseedmanagementv1alpha1.Image{Tag: tag, PullPolicy: &policy},
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := gardenseedmanagementv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gardenseedmanagementv1alpha1.RegisterDefaults(scheme)
	type (
		managedSeed = gardenseedmanagementv1alpha1.ManagedSeed
		spec        = gardenseedmanagementv1alpha1.ManagedSeedSpec
		gardenlet   = gardenseedmanagementv1alpha1.GardenletConfig
		deployment  = gardenseedmanagementv1alpha1.GardenletDeployment
		set         = gardenseedmanagementv1alpha1.ManagedSeedSet
		setSpec     = gardenseedmanagementv1alpha1.ManagedSeedSetSpec
		strategy    = gardenseedmanagementv1alpha1.UpdateStrategy
	)
	always := deployed(corev1.PullIfNotPresent, nil)
	latest := deployed(corev1.PullAlways, new("latest"))
	rolling := gardenseedmanagementv1alpha1.RollingUpdateStrategyType
	for name, tc := range map[string]struct {
		reason      string
		given, want runtime.Object
	}{
		"API-DEF-18 managed seed": {
			reason: "a gardenlet of which nothing is said",
			given:  &managedSeed{Spec: spec{Gardenlet: &gardenlet{}}},
			want: &managedSeed{Spec: spec{Gardenlet: &gardenlet{
				Deployment: &always, Config: runtime.RawExtension{Raw: []byte(emptyConfig)},
				Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), MergeWithParent: new(true),
			}}},
		},
		"API-DEF-18 kept": {
			reason: "what is said stays",
			given: &managedSeed{Spec: spec{Gardenlet: &gardenlet{
				Deployment: &deployment{Image: &gardenseedmanagementv1alpha1.Image{Tag: new("latest")}},
				Config:     runtime.RawExtension{Raw: []byte(`{}`)}, Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapNone), MergeWithParent: new(false),
			}}},
			want: &managedSeed{Spec: spec{Gardenlet: &gardenlet{
				Deployment: &latest, Config: runtime.RawExtension{Raw: []byte(`{"resources":{"capacity":{"shoots":"250"}}}`)},
				Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapNone), MergeWithParent: new(false),
			}}},
		},
		"capacity": {
			reason: "a configuration without a capacity gets one, and keeps what it says",
			given: &managedSeed{Spec: spec{Gardenlet: &gardenlet{
				Deployment: always.DeepCopy(), Config: runtime.RawExtension{Raw: []byte(`{"newer":[1, 2],"resources":{"capacity":{"seeds":"1"},"reserved":{"shoots":"3"}}}`)},
			}}},
			want: &managedSeed{Spec: spec{Gardenlet: &gardenlet{
				Deployment: &always, Config: runtime.RawExtension{Raw: []byte(`{"newer":[1,2],"resources":{"capacity":{"seeds":"1","shoots":"250"},"reserved":{"shoots":"3"}}}`)},
				Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), MergeWithParent: new(true),
			}}},
		},
		"own capacity": {
			reason: "a capacity stays, and so does how it is written",
			given:  &gardenseedmanagementv1alpha1.Gardenlet{Spec: gardenseedmanagementv1alpha1.GardenletSpec{Config: runtime.RawExtension{Raw: []byte(`{ "resources": {"capacity": {"shoots": 7}}}`)}}},
			want: &gardenseedmanagementv1alpha1.Gardenlet{Spec: gardenseedmanagementv1alpha1.GardenletSpec{
				Deployment: gardenseedmanagementv1alpha1.GardenletSelfDeployment{GardenletDeployment: always},
				Config:     runtime.RawExtension{Raw: []byte(`{ "resources": {"capacity": {"shoots": 7}}}`)},
			}},
		},
		"no configuration": {
			reason: "what cannot be read is left to validation",
			given:  &gardenseedmanagementv1alpha1.Gardenlet{Spec: gardenseedmanagementv1alpha1.GardenletSpec{Config: runtime.RawExtension{Raw: []byte(`{"resources":[]}`)}}},
			want: &gardenseedmanagementv1alpha1.Gardenlet{Spec: gardenseedmanagementv1alpha1.GardenletSpec{
				Deployment: gardenseedmanagementv1alpha1.GardenletSelfDeployment{GardenletDeployment: always},
				Config:     runtime.RawExtension{Raw: []byte(`{"resources":[]}`)},
			}},
		},
		"API-DEF-18 older form": {reason: "somebody else's gardenlet is left alone", given: &managedSeed{}, want: &managedSeed{}},
		"API-DEF-18 set": {
			reason: "a set of which nothing is said",
			given:  &set{Spec: setSpec{}},
			want:   &set{Spec: setSpec{Replicas: new(int32(1)), RevisionHistoryLimit: new(int32(10)), UpdateStrategy: &strategy{Type: &rolling}}},
		},
		"API-DEF-18 partition": {
			reason: "parts that are there are filled in, parts that are not stay away",
			given: &set{Spec: setSpec{
				Replicas: new(int32(0)), UpdateStrategy: &strategy{RollingUpdate: &gardenseedmanagementv1alpha1.RollingUpdateStrategy{}},
				Template: gardenseedmanagementv1alpha1.ManagedSeedTemplate{Spec: spec{Gardenlet: &gardenlet{Deployment: &deployment{}}}},
			}},
			want: &set{Spec: setSpec{
				Replicas: new(int32(0)), RevisionHistoryLimit: new(int32(10)),
				UpdateStrategy: &strategy{Type: &rolling, RollingUpdate: &gardenseedmanagementv1alpha1.RollingUpdateStrategy{Partition: new(int32(0))}},
				Template: gardenseedmanagementv1alpha1.ManagedSeedTemplate{Spec: spec{Gardenlet: &gardenlet{Deployment: &deployment{
					ReplicaCount: new(int32(2)), RevisionHistoryLimit: new(int32(2)), EnableHealthProbes: new(true),
				}}}},
			}},
		},
		"gardenlet": {
			reason: "api-defaults.md, Gardenlet",
			given:  &gardenseedmanagementv1alpha1.Gardenlet{},
			want: &gardenseedmanagementv1alpha1.Gardenlet{Spec: gardenseedmanagementv1alpha1.GardenletSpec{
				Deployment: gardenseedmanagementv1alpha1.GardenletSelfDeployment{GardenletDeployment: always},
				Config:     runtime.RawExtension{Raw: []byte(emptyConfig)},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme.Default(tc.given)
			if diff := cmp.Diff(tc.want, tc.given); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
