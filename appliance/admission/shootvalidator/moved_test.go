// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
)

// TestMoved_API_SVAL_14 changes the profile of a shoot from one of its project, which has more than its parent.
func TestMoved_API_SVAL_14(t *testing.T) {
	t.Parallel()
	const kindOwn = gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile
	more := admissiontest.Profile(func(p *profile) {
		p.Spec.MachineTypes = append(p.Spec.MachineTypes, gardencorev1beta1.MachineType{
			Name: "own", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi"), Architecture: new("amd64"),
		}, gardencorev1beta1.MachineType{
			Name: "retired", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi"), Architecture: new("amd64"), Usable: new(false),
		})
		p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "own", Class: "premium"}, {Name: "slow", Class: "standard"}}
		mine := *p.Spec.MachineImages[0].DeepCopy()
		mine.Name = "own"
		p.Spec.MachineImages = append(p.Spec.MachineImages, mine)
		second := *p.Spec.MachineImages[0].Versions[0].DeepCopy()
		second.Version = "2.0.0"
		p.Spec.MachineImages[0].Versions = append(p.Spec.MachineImages[0].Versions, second)
	})
	parent := admissiontest.Profile(func(p *profile) {
		p.Spec.MachineTypes = append(p.Spec.MachineTypes, more.Spec.MachineTypes[2])
		p.Spec.VolumeTypes = more.Spec.VolumeTypes[1:]
	})
	own := admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Status.CloudProfileSpec = more.Spec })
	objects := append(garden()[:1:1], parent, own)
	from := func(change func(*shoot)) *shoot {
		return admissiontest.Shoot(change, func(s *shoot) {
			s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kindOwn, Name: "own"}
		})
	}
	back := func(change func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change), Old: from(change)}
	}
	machine := func(name string) func(*shoot) { return pool(func(w *worker) { w.Machine.Type = name }) }
	volume := func(name string) func(*shoot) {
		return pool(func(w *worker) { w.Volume = &gardencorev1beta1.Volume{Type: &name, Size: "20Gi"} })
	}
	described := func(s *shoot) { machine("own")(s); s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"machine":       {Reason: "a machine type of the former profile alone cannot be kept", Objects: objects, Request: back(machine("own")), Refused: []string{"spec.provider.workers[0].machine.type", `"own"`}},
		"volume":        {Reason: "nor a volume type", Objects: objects, Request: back(volume("own")), Refused: []string{"spec.provider.workers[0].volume.type", `"own"`}},
		"image":         {Reason: "nor an image", Objects: objects, Request: back(image("own", new("1.0.0"))), Refused: []string{"spec.provider.workers[0].machine.image.name", `"own"`}},
		"image version": {Reason: "nor a version of one", Objects: objects, Request: back(image("local", new("2.0.0"))), Refused: []string{"spec.provider.workers[0].machine.image.version", `"2.0.0"`}},
		"retired":       {Reason: "what the next profile has can be kept, even if it is no longer usable", Objects: objects, Request: back(machine("retired"))},
		"same volume":   {Reason: "so can a volume type", Objects: objects, Request: back(volume("slow"))},
		"others":        {Reason: "a shoot that keeps its profile keeps what that has lost", Objects: objects, Request: admissiontest.Request{Object: admissiontest.Shoot(described), Old: admissiontest.Shoot(machine("own"))}},
	})
}
