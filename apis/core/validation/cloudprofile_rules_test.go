// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateCloudProfileRules(t *testing.T) {
	t.Parallel()
	const versions = "spec.kubernetes.versions"
	offers := func(all ...gardencorev1beta1.ExpirableVersion) func(*gardencorev1beta1.CloudProfile) {
		return func(p *gardencorev1beta1.CloudProfile) { p.Spec.Kubernetes.Versions = all }
	}
	supported := new(gardencorev1beta1.VersionClassificationSupported)
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.CloudProfile)
		want   []string
	}{
		"API-VALCP-1 versions": {
			reason: "versions are versions, once, and one of a minor one is the supported one",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.35.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.35.2"}, gardencorev1beta1.ExpirableVersion{Version: "one", Classification: supported}),
			want: []string{
				versions + ": FieldValueInvalid", versions + "[0]: FieldValueForbidden", versions + "[1]: FieldValueForbidden",
				versions + "[3].version: FieldValueDuplicate", versions + "[4]: FieldValueInvalid",
			},
		},
		"API-VALCP-1 first": {
			reason: "the newest version need not be the last one",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", ExpirationDate: past()}, gardencorev1beta1.ExpirableVersion{Version: "1.35.2"}),
			want:   []string{versions + "[].expirationDate: FieldValueInvalid"},
		},
		"API-VALCP-2 classification": {
			reason: "a version is classified in a known way",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Classification: new(gardencorev1beta1.VersionClassification("old"))}),
			want:   []string{versions + "[0].classification: FieldValueNotSupported"},
		},
		"API-VALCP-2 end": {
			reason: "stages tell the end as well",
			change: offers(gardencorev1beta1.ExpirableVersion{
				Version: "1.35.2", ExpirationDate: past(), Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}},
			}, gardencorev1beta1.ExpirableVersion{Version: "1.36.3"}),
			want: []string{versions + "[0].lifecycle: FieldValueForbidden"},
		},
		"API-VALCP-1 no image": {
			reason: "an image has a version", change: func(p *gardencorev1beta1.CloudProfile) { p.Spec.MachineImages[0].Versions = nil },
			want: []string{"spec.machineImages[0].versions: FieldValueRequired"},
		},
		"API-VALCP-1 bastion machine": {
			reason: "a bastion can leave the image to the extension",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Bastion = &gardencorev1beta1.Bastion{MachineType: &gardencorev1beta1.BastionMachineType{Name: "local"}}
			},
		},
		"API-VALCP-1 bastion image": {
			reason: "but not name an image that is not offered",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Bastion = &gardencorev1beta1.Bastion{MachineImage: &gardencorev1beta1.BastionMachineImage{Name: "other"}}
			},
			want: []string{"spec.bastion.machineImage.name: FieldValueInvalid"},
		},
		"nameless storage": {
			reason: "storage that comes with a machine may have no names",
			change: func(p *gardencorev1beta1.CloudProfile) {
				size := resource.MustParse("20Gi")
				p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Size: &size}
			},
		},
		"API-VALCP-1 names": {
			reason: "what is offered is named, once",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Regions = []gardencorev1beta1.Region{{Name: "a", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "z"}, {Name: "z"}}}, {Name: "a"}}
				p.Spec.MachineTypes = append(p.Spec.MachineTypes, p.Spec.MachineTypes[0])
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "v", Class: "c"}, {Name: "v", Class: "c"}}
				p.Spec.MachineImages[0].Versions[0].CRI = []gardencorev1beta1.CRI{
					{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "a"}, {Type: "a"}}}, {Name: "other"},
				}
			},
			want: []string{
				"spec.machineImages[0].versions[0].cri[0].containerRuntimes[1].type: FieldValueDuplicate",
				"spec.machineImages[0].versions[0].cri[1].name: FieldValueNotSupported", "spec.machineTypes[1].name: FieldValueDuplicate",
				"spec.regions[0].zones[1].name: FieldValueDuplicate", "spec.regions[1].name: FieldValueDuplicate", "spec.volumeTypes[1].name: FieldValueDuplicate",
			},
		},
		"API-VALCP-1 bundle": {
			reason: "certificates are certificates", change: func(p *gardencorev1beta1.CloudProfile) { p.Spec.CABundle = new("nonsense") },
			want: []string{"spec.caBundle: FieldValueInvalid"},
		},
		"storage": {
			reason: "storage that comes with a machine is named like other volumes",
			change: func(p *gardencorev1beta1.CloudProfile) {
				size := resource.MustParse("20Gi")
				p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Class: "first class", Type: "a/b", Size: &size}
			},
			want: []string{"spec.machineTypes[0].storage.class: FieldValueInvalid", "spec.machineTypes[0].storage.type: FieldValueInvalid"},
		},
		"API-VALCP-1 machines": {
			reason: "amounts are not negative, storage has one size",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.MachineTypes[0].CPU = resource.MustParse("-1")
				p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Class: "a", Type: "b"}
				p.Spec.MachineTypes[0].Architecture = new("abacus")
			},
			want: []string{
				"spec.machineTypes[0].architecture: FieldValueNotSupported", "spec.machineTypes[0].cpu: FieldValueInvalid",
				"spec.machineTypes[0].storage: FieldValueInvalid",
			},
		},
		"API-VALCP-1 bastion": {
			reason: "bastions are made of what is offered",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Bastion = &gardencorev1beta1.Bastion{
					MachineImage: &gardencorev1beta1.BastionMachineImage{Name: "local", Version: new("2.0.0")},
					MachineType:  &gardencorev1beta1.BastionMachineType{Name: "other"},
				}
			},
			want: []string{"spec.bastion.machineImage.version: FieldValueInvalid", "spec.bastion.machineType.name: FieldValueInvalid"},
		},
		"API-VALCP-2 life": {
			reason: "a version gets older, never younger",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "supported"},
				{Classification: "preview", StartTime: past()},
				{Classification: "deprecated", StartTime: past()},
				{Classification: "expired"},
			}}, gardencorev1beta1.ExpirableVersion{Version: "1.36.4"}),
			want: []string{
				versions + "[0].lifecycle[1].classification: FieldValueInvalid", versions + "[0].lifecycle[2].startTime: FieldValueInvalid",
				versions + "[0].lifecycle[3].startTime: FieldValueRequired",
			},
		},
		"API-VALCP-2 either": {
			reason: "its life is told in one way",
			change: offers(gardencorev1beta1.ExpirableVersion{
				Version: "1.36.3", Classification: supported, Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}},
			}),
			want: []string{versions + "[0].lifecycle: FieldValueForbidden"},
		},
		"API-VALCP-2 fine": {
			reason: "stages follow each other",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "preview"},
				{Classification: "supported", StartTime: past()},
				{Classification: "expired", StartTime: &metav1.Time{Time: past().Add(time.Hour)}},
			}}, gardencorev1beta1.ExpirableVersion{Version: "1.36.4"}),
		},
		"API-VALCP-1 newest ends": {
			reason: "nor does the newest version expire by its last stage",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "supported"},
				{Classification: "expired", StartTime: past()},
			}}),
			want: []string{versions + "[].lifecycle: FieldValueInvalid"},
		},
		"API-VALCP-1 stays supported": {
			reason: "one version of a minor one stays supported, however it is said",
			change: offers(
				gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "preview"}, {Classification: "supported", StartTime: past()}}},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
			),
			want: []string{versions + "[0]: FieldValueForbidden", versions + "[1]: FieldValueForbidden"},
		},
		"API-VALCP-1 follows": {
			reason: "another one follows it",
			change: offers(
				gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}}},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}, {Classification: "deprecated", StartTime: past()}}},
			),
		},
		"API-VALCP-2 nodes": {
			reason: "some nodes are allowed",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(0))}
			},
			want: []string{"spec.limits.maxNodesTotal: FieldValueInvalid"},
		},
		"Capabilities": {
			reason: "what machines can is defined",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "empty"}}
				p.Spec.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"arm64"}, "other": {"a"}}
			},
			want: []string{
				"spec.machineCapabilities[1].values: FieldValueRequired", "spec.machineTypes[0].capabilities.architecture[0]: FieldValueNotSupported",
				"spec.machineTypes[0].capabilities: FieldValueNotSupported",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCloudProfile(cloudProfile(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateCloudProfile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	limited := func(n int32) *gardencorev1beta1.CloudProfile {
		return cloudProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &n} })
	}
	if diff := cmp.Diff([]string{"spec.limits.maxNodesTotal: FieldValueInvalid"}, checktest.Complaints(validation.ValidateCloudProfileUpdate(limited(1), limited(2)))); diff != "" {
		t.Errorf("API-VALCP-2: shoots keep the nodes that they were allowed\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateCloudProfileUpdate(limited(2), limited(1)))); diff != "" {
		t.Errorf("API-VALCP-2: more can be allowed\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	unlimited := cloudProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.Limits = &gardencorev1beta1.Limits{} })
	for reason, tc := range map[string][2]*gardencorev1beta1.CloudProfile{
		"limits can be set": {cloudProfile(), limited(1)}, "and removed": {limited(1), cloudProfile()},
		"so can the number": {unlimited, limited(1)}, "as well": {limited(1), unlimited},
	} {
		if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateCloudProfileUpdate(tc[1], tc[0]))); diff != "" {
			t.Errorf("API-VALCP-2: %s\nValidateCloudProfileUpdate(...) (-want +got):\n%s", reason, diff)
		}
	}
	twice := func(labels map[string]string, third string) *gardencorev1beta1.CloudProfile {
		return cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
			p.Labels = labels
			offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Classification: supported}, gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: third})(p)
		})
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateCloudProfileUpdate(twice(map[string]string{"a": "b"}, "1.35.2"), twice(nil, "1.35.2")))); diff != "" {
		t.Errorf("API-VALCP-1: a profile that was stored earlier can be written\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	if got := checktest.Complaints(validation.ValidateCloudProfileUpdate(twice(nil, "1.35.3"), twice(nil, "1.35.2"))); len(got) != 2 {
		t.Errorf("API-VALCP-1: its versions are checked when they change\nValidateCloudProfileUpdate(...): %v", got)
	}
}
