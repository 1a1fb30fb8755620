// SPDX-License-Identifier: Apache-2.0

package namespacedcloudprofilevalidator_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/namespacedcloudprofilevalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

type spec = gardencorev1beta1.NamespacedCloudProfileSpec

func profile(change ...func(*spec)) *gardencorev1beta1.NamespacedCloudProfile {
	return admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) {
		for _, c := range change {
			c(&p.Spec)
		}
	})
}

// version prolongs a version of Kubernetes by some days from now.
func version(v string, days int) func(*spec) {
	return func(s *spec) {
		s.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{
			Version: v, ExpirationDate: new(metav1.NewTime(kindtest.Now().AddDate(0, 0, days))),
		}}}
	}
}

func image(name string, versions ...gardencorev1beta1.MachineImageVersion) func(*spec) {
	return func(s *spec) {
		s.MachineImages = append(s.MachineImages, gardencorev1beta1.MachineImage{
			Name: name, Versions: versions, UpdateStrategy: new(gardencorev1beta1.MachineImageUpdateStrategyMajor),
		})
	}
}

func imageVersion(v string) gardencorev1beta1.MachineImageVersion {
	return gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: v}}
}

func machine(name string) func(*spec) {
	return func(s *spec) {
		s.MachineTypes = append(s.MachineTypes, gardencorev1beta1.MachineType{
			Name: name, CPU: resource.MustParse("1"), GPU: resource.MustParse("0"), Memory: resource.MustParse("1Gi"), Usable: new(true),
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	parent := []kind.Object{admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) {
		p.Spec.MachineImages[0].UpdateStrategy = new(gardencorev1beta1.MachineImageUpdateStrategyMajor)
		p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: "1.37.0"})
		p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "slow", Class: "standard"}}
	})}
	full := imageVersion("1.0.0")
	full.CRI, full.Architectures = []gardencorev1beta1.CRI{{Name: "containerd"}}, []string{"amd64"}
	sparc := full
	sparc.Architectures = []string{"sparc"}
	added := full
	added.Version = "2.0.0"
	end := imageVersion("1.0.0")
	end.ExpirationDate = new(metav1.NewTime(kindtest.Now().AddDate(0, 0, 1)))
	volume := func(s *spec) { s.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "slow", Class: "standard"}} }
	create := func(change ...func(*spec)) admissiontest.Request {
		return admissiontest.Request{Object: profile(change...)}
	}
	admissiontest.Run(t, namespacedcloudprofilevalidator.New, map[string]admissiontest.Case{
		"API-NCPV-1 parent":       {Reason: "there is something to extend", Request: create(), Refused: []string{"spec.parent.name", `CloudProfile "local"`}},
		"API-NCPV-1 nothing":      {Reason: "nothing has to be added", Objects: parent, Request: create()},
		"API-NCPV-1 version":      {Reason: "a version may live for longer", Objects: parent, Request: create(version("1.36.3", 1))},
		"API-NCPV-1 no version":   {Reason: "one that the parent has", Objects: parent, Request: create(version("1.35.0", 1)), Refused: []string{"spec.kubernetes.versions[0].version", `"1.35.0"`}},
		"API-NCPV-1 past":         {Reason: "not until yesterday", Objects: parent, Request: admissiontest.Request{Object: profile(version("1.36.3", -1)), Old: profile()}, Refused: []string{"spec.kubernetes.versions[0].expirationDate", "in the past"}},
		"API-NCPV-1 still past":   {Reason: "what has ended meanwhile may stay", Objects: parent, Request: admissiontest.Request{Object: profile(version("1.36.3", -1), machine("large")), Old: profile(version("1.36.3", -1))}},
		"API-NCPV-1 image end":    {Reason: "an image may live for longer", Objects: parent, Request: create(image("local", end))},
		"API-NCPV-1 image":        {Reason: "and stays what it is", Objects: parent, Request: create(image("local", full)), Refused: []string{"spec.machineImages[0].versions[0]", "only expirationDate"}},
		"API-NCPV-1 own version":  {Reason: "new versions are the project's", Objects: parent, Request: create(image("local", added))},
		"API-NCPV-1 own image":    {Reason: "new images too", Objects: parent, Request: create(image("mine", full))},
		"API-NCPV-1 machine":      {Reason: "new machines too", Objects: parent, Request: create(machine("large"))},
		"API-NCPV-1 same machine": {Reason: "what the parent has is the parent's", Objects: parent, Request: create(machine("small")), Refused: []string{"spec.machineTypes[0]", `"small"`}},
		"API-NCPV-1 late machine": {Reason: "also when it came later, but that harms nobody", Objects: parent, Request: admissiontest.Request{Object: profile(machine("small"), machine("large")), Old: profile(machine("small"))}},
		"API-NCPV-1 same volume":  {Reason: "volumes likewise", Objects: parent, Request: create(volume), Refused: []string{"spec.volumeTypes[0]", `"slow"`}},
		"API-NCPV-1 merged":       {Reason: "the whole has to be valid", Objects: parent, Request: create(image("mine", sparc)), Refused: []string{"the profile is not valid", "spec.machineImages[1]"}},
		"API-NCPV-1 unchanged":    {Reason: "labels can always be written", Request: admissiontest.Request{Object: profile(), Old: profile()}},
	})
}
