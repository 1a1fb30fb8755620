// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

type profile = gardencorev1beta1.CloudProfile

// image gives the first image of the profile a version with changes.
func image(version string, change ...func(*gardencorev1beta1.MachineImageVersion)) func(*profile) {
	return func(p *profile) {
		v := gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version}}
		for _, c := range change {
			c(&v)
		}
		p.Spec.MachineImages[0].Versions = []gardencorev1beta1.MachineImageVersion{v}
	}
}

func TestValidateMachineImageVersions(t *testing.T) {
	t.Parallel()
	const version = "spec.machineImages[0].versions[0]"
	constraint := func(value string) func(*gardencorev1beta1.MachineImageVersion) {
		return func(v *gardencorev1beta1.MachineImageVersion) { v.KubeletVersionConstraint = &value }
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*profile)
		want   []string
	}{
		"API-VALCP-1 leading zero":    {reason: "versions of distributions have leading zeros", change: image("18.04.201906170")},
		"API-VALCP-1 two parts":       {reason: "or leave parts out", change: image("2303.3")},
		"API-VALCP-1 suffix":          {reason: "or have a suffix", change: image("1312.3.0-dev.1")},
		"API-VALCP-1 no version":      {reason: "a word is not a version", change: image("latest"), want: []string{"spec.machineImages: FieldValueInvalid", version + ".version: FieldValueInvalid"}},
		"API-VALCP-1 empty":           {reason: "nothing is not a version", change: image(""), want: []string{"spec.machineImages: FieldValueInvalid", version + ".version: FieldValueInvalid", version + ".version: FieldValueRequired"}},
		"kubelet constraint":          {reason: "a range of kubelet versions", change: image("1.0.0", constraint(">= 1.30, < 1.40"))},
		"kubelet constraint nonsense": {reason: "that can be read", change: image("1.0.0", constraint(">> 1")), want: []string{version + ".kubeletVersionConstraint: FieldValueInvalid"}},
		"in-place supported": {
			reason: "an image can be updated in place",
			change: image("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) {
				v.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdates{Supported: true}
			}),
		},
		"in-place from": {
			reason: "from some version on",
			change: image("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) {
				v.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: new("0.9.0")}
			}),
		},
		"API-VALCP-1 one of two": {
			reason: "each version of an image is a version",
			change: func(p *profile) {
				p.Spec.MachineImages[0].Versions = []gardencorev1beta1.MachineImageVersion{
					{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "latest"}}, {ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}},
				}
			},
			want: []string{"spec.machineImages: FieldValueInvalid", version + ".version: FieldValueInvalid"},
		},
		"in-place": {
			reason: "the oldest version to come from is a version",
			change: image("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) {
				v.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: new("old")}
			}),
			want: []string{version + ".inPlaceUpdates.minVersionForUpdate: FieldValueInvalid"},
		},
		"architecture": {
			reason: "architectures are known",
			change: image("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) { v.Architectures = []string{"amd64", "abacus"} }),
			want:   []string{version + ".architectures[1]: FieldValueNotSupported"},
		},
		"API-VALCP-1 supported": {
			reason: "only one image version of a minor one is supported",
			change: func(p *profile) {
				supported := new(gardencorev1beta1.VersionClassificationSupported)
				p.Spec.MachineImages[0].Versions = []gardencorev1beta1.MachineImageVersion{
					{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0", Classification: supported}},
					{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.1", Classification: supported}},
				}
			},
			want: []string{"spec.machineImages[0].versions[0]: FieldValueForbidden", "spec.machineImages[0].versions[1]: FieldValueForbidden"},
		},
		"names": {
			reason: "what is offered has a name that fits into labels",
			change: func(p *profile) {
				p.Spec.MachineImages[0].Name = "an image"
				p.Spec.MachineTypes[0].Name = "x/large"
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "fast disk", Class: "a/b"}}
			},
			want: []string{
				"spec.machineImages[0].name: FieldValueInvalid", "spec.machineTypes[0].name: FieldValueInvalid",
				"spec.volumeTypes[0].class: FieldValueInvalid", "spec.volumeTypes[0].name: FieldValueInvalid",
			},
		},
		"seed selector": {
			reason: "a selector that cannot be evaluated selects nothing",
			change: func(p *profile) {
				p.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"no/value"}},
				}}}
			},
			want: []string{"spec.seedSelector.matchExpressions[0].values[0]: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCloudProfile(cloudProfile(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateCloudProfile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateCapabilities(t *testing.T) {
	t.Parallel()
	type flavor = gardencorev1beta1.MachineImageFlavor
	type capabilities = gardencorev1beta1.Capabilities
	const version, flavors = "spec.machineImages[0].versions[0]", "spec.machineImages[0].versions[0].capabilityFlavors"
	// with defines capabilities and says what an image and a machine type have of them.
	with := func(architectures []string, ofImage []flavor, ofType capabilities) func(*profile) {
		return func(p *profile) {
			p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
				{Name: "architecture", Values: architectures}, {Name: "boot", Values: []string{"secure", "measured"}},
			}
			p.Spec.MachineImages[0].Versions[0].CapabilityFlavors = ofImage
			p.Spec.MachineTypes[0].Capabilities = ofType
		}
	}
	of := func(c capabilities) flavor { return flavor{Capabilities: c} }
	both := []string{"amd64", "arm64"}
	for name, tc := range map[string]struct {
		reason string
		change func(*profile)
		want   []string
	}{
		"fine":    {reason: "each flavor has one architecture", change: with(both, []flavor{of(capabilities{"architecture": {"amd64"}}), of(capabilities{"architecture": {"arm64"}, "boot": {"secure"}})}, capabilities{"architecture": {"amd64"}})},
		"single":  {reason: "the only architecture need not be named", change: with([]string{"amd64"}, nil, nil)},
		"none":    {reason: "one of several must be", change: with(both, nil, nil), want: []string{flavors + ": FieldValueRequired"}},
		"unnamed": {reason: "in each flavor", change: with(both, []flavor{of(capabilities{"boot": {"secure"}})}, nil), want: []string{flavors + "[0].architecture: FieldValueRequired"}},
		"two":     {reason: "and just one", change: with(both, []flavor{of(capabilities{"architecture": both})}, capabilities{"architecture": both}), want: []string{flavors + "[0].architecture: FieldValueInvalid", "spec.machineTypes[0].capabilities.architecture: FieldValueInvalid"}},
		"unknown": {
			reason: "what is not defined means nothing",
			change: with([]string{"amd64"}, []flavor{of(capabilities{"boot": {"fast"}})}, capabilities{"color": {"red"}}),
			want:   []string{flavors + "[0].boot[0]: FieldValueNotSupported", "spec.machineTypes[0].capabilities: FieldValueNotSupported"},
		},
		"undefined": {
			reason: "capabilities are for profiles that define some",
			change: func(p *profile) {
				with(both, []flavor{of(capabilities{"architecture": {"amd64"}})}, capabilities{"architecture": {"amd64"}})(p)
				p.Spec.MachineCapabilities = nil
			},
			want: []string{flavors + ": FieldValueForbidden", "spec.machineTypes[0].capabilities: FieldValueForbidden"},
		},
		"definitions": {
			reason: "definitions are complete, once, and tell the architecture",
			change: func(p *profile) {
				p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "a b", Values: []string{"", "x", "x"}}, {Name: "boot"}, {Name: "boot", Values: []string{"x"}}}
			},
			want: []string{
				"spec.machineCapabilities: FieldValueRequired", "spec.machineCapabilities[0].name: FieldValueInvalid",
				"spec.machineCapabilities[0].values[0]: FieldValueInvalid", "spec.machineCapabilities[0].values[2]: FieldValueDuplicate",
				"spec.machineCapabilities[1].values: FieldValueRequired", "spec.machineCapabilities[2].name: FieldValueDuplicate",
			},
		},
		"architectures": {
			reason: "machines have known architectures",
			change: func(p *profile) {
				p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "abacus"}}}
				p.Spec.MachineImages[0].Versions[0].Architectures = []string{"amd64"}
			},
			want: []string{"spec.machineCapabilities[0].values[1]: FieldValueNotSupported"},
		},
		"older fields alone": {
			reason: "the older fields are enough", change: func(p *profile) {
				with(both, nil, nil)(p)
				p.Spec.MachineImages[0].Versions[0].Architectures, p.Spec.MachineTypes[0].Architecture = []string{"amd64"}, new("amd64")
			},
		},
		"older fields too": {
			reason: "and may stand beside the newer ones",
			change: func(p *profile) {
				with(both, []flavor{of(capabilities{"architecture": {"amd64"}})}, capabilities{"architecture": {"amd64"}})(p)
				p.Spec.MachineImages[0].Versions[0].Architectures, p.Spec.MachineTypes[0].Architecture = []string{"amd64"}, new("amd64")
			},
		},
		"older fields": {
			reason: "the older fields say the same",
			change: func(p *profile) {
				with(both, []flavor{of(capabilities{"architecture": {"amd64"}})}, capabilities{"architecture": {"amd64"}})(p)
				p.Spec.MachineImages[0].Versions[0].Architectures = []string{"arm64"}
				p.Spec.MachineTypes[0].Architecture = new("arm64")
			},
			want: []string{version + ".architectures: FieldValueInvalid", "spec.machineTypes[0].architecture: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCloudProfile(cloudProfile(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateCloudProfile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateBastionOfProfile(t *testing.T) {
	t.Parallel()
	preview := new(gardencorev1beta1.VersionClassificationPreview)
	bastion := func(b gardencorev1beta1.Bastion, change ...func(*profile)) *profile {
		return cloudProfile(append([]func(*profile){func(p *profile) {
			p.Spec.Bastion = &b
			p.Spec.MachineTypes[0].Architecture = new("amd64")
			p.Spec.MachineImages[0].Versions = []gardencorev1beta1.MachineImageVersion{
				{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}, Architectures: []string{"amd64"}},
				{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.1.0", Classification: preview}, Architectures: []string{"amd64"}},
				{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.2.0"}, Architectures: []string{"arm64"}},
			}
		}}, change...)...)
	}
	local := &gardencorev1beta1.BastionMachineType{Name: "local"}
	of := func(version *string) *gardencorev1beta1.BastionMachineImage {
		return &gardencorev1beta1.BastionMachineImage{Name: "local", Version: version}
	}
	staged := func(classification gardencorev1beta1.VersionClassification) func(*profile) {
		return func(p *profile) {
			v := &p.Spec.MachineImages[0].Versions[0]
			v.Lifecycle = []gardencorev1beta1.LifecycleStage{{Classification: classification}}
		}
	}
	capable := func(p *profile) {
		p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}}
		p.Spec.MachineTypes[0].Architecture, p.Spec.MachineTypes[0].Capabilities = nil, gardencorev1beta1.Capabilities{"architecture": {"arm64"}}
		for i := range p.Spec.MachineImages[0].Versions {
			v := &p.Spec.MachineImages[0].Versions[i]
			v.CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": v.Architectures}}}
			v.Architectures = nil
		}
	}
	const name, version = "spec.bastion.machineImage.name: FieldValueInvalid", "spec.bastion.machineImage.version: FieldValueInvalid"
	for title, tc := range map[string]struct {
		reason string
		got    *profile
		want   []string
	}{
		"any version":     {reason: "some version is supported and fits", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(nil), MachineType: local})},
		"fitting":         {reason: "this one does", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local})},
		"preview":         {reason: "a version in preview is not supported", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.1.0")), MachineType: local}), want: []string{version}},
		"architecture":    {reason: "an image for other machines does not run", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.2.0")), MachineType: local}), want: []string{version}},
		"no type":         {reason: "without a type any architecture fits", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.2.0"))})},
		"empty":           {reason: "a bastion says something", got: bastion(gardencorev1beta1.Bastion{}), want: []string{"spec.bastion: FieldValueInvalid"}},
		"supported once":  {reason: "a stage of its life is enough", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local}, staged("supported"))},
		"never supported": {reason: "but it must be that one", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local}, staged("preview")), want: []string{version}},
		"classified": {
			reason: "a version can be called supported",
			got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local}, func(p *profile) {
				p.Spec.MachineImages[0].Versions[0].Classification = new(gardencorev1beta1.VersionClassificationSupported)
			}),
		},
		"no architecture": {
			reason: "an image that names no architecture runs everywhere",
			got:    bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local}, func(p *profile) { p.Spec.MachineImages[0].Versions[0].Architectures = nil }),
		},
		"capabilities":         {reason: "capabilities tell architectures too", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.2.0")), MachineType: local}, capable)},
		"capabilities of type": {reason: "of machines and of images", got: bastion(gardencorev1beta1.Bastion{MachineImage: of(new("1.0.0")), MachineType: local}, capable), want: []string{version}},
		"none fits": {
			reason: "no version fits the type",
			got:    bastion(gardencorev1beta1.Bastion{MachineImage: of(nil), MachineType: local}, func(p *profile) { p.Spec.MachineImages[0].Versions = p.Spec.MachineImages[0].Versions[1:] }),
			want:   []string{name},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCloudProfile(tc.got))); diff != "" {
				t.Errorf("%s\nValidateCloudProfile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
