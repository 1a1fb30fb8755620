// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

// image offers one version of an image, with architectures unless the profile only extends it.
func image(name, version string, change ...func(*gardencorev1beta1.MachineImageVersion)) machineImage {
	v := gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version}}
	for _, c := range change {
		c(&v)
	}
	return machineImage{Name: name, Versions: []gardencorev1beta1.MachineImageVersion{v}}
}

func on64(v *gardencorev1beta1.MachineImageVersion) { v.Architectures = []string{"amd64"} }

func until(t time.Time) func(*gardencorev1beta1.MachineImageVersion) {
	return func(v *gardencorev1beta1.MachineImageVersion) { v.ExpirationDate = &metav1.Time{Time: t} }
}

// with offers a further image in the parent, or in a profile of the project.
func with(i machineImage) func(*profile) {
	return func(p *profile) { p.Spec.MachineImages = append(p.Spec.MachineImages, i) }
}

func own(i ...machineImage) *ownProfile {
	return admissiontest.NamespacedProfile(func(p *ownProfile) { p.Spec.MachineImages = i })
}

// onOwn is a shoot with the profile of the project.
func onOwn(change ...func(*shoot)) *shoot {
	s := admissiontest.Shoot(change...)
	s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
	return s
}

func running(name string) func(*shoot) {
	return func(s *shoot) { s.Spec.Provider.Workers[0].Machine.Image.Name = name }
}

// TestHeirs_API_RRM_10 takes from a profile what profiles of projects have of it.
func TestHeirs_API_RRM_10(t *testing.T) {
	t.Parallel()
	parent := admissiontest.Profile
	mine := image("mine", "1.0.0", on64)
	elsewhere := own(image("local", "1.0.0", until(kindtest.Now().Add(time.Hour))))
	elsewhere.Spec.Parent.Name = "other"
	extends := own(image("local", "1.0.0", until(kindtest.Now().Add(time.Hour))))
	newer := parent(func(p *profile) { p.Spec.MachineImages[0].Versions[0].Version = "2.0.0" })
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"plain":     {Reason: "a profile that does not extend a version does not need it", Objects: []kind.Object{parent(), admissiontest.NamespacedProfile()}, Request: admissiontest.Request{Object: newer, Old: parent()}},
		"extended":  {Reason: "one that extends it does", Objects: []kind.Object{parent(), extends}, Request: admissiontest.Request{Object: newer, Old: parent()}, Refused: []string{"machine image local 1.0.0 cannot be removed: NamespacedCloudProfile garden-meadow/own extends it"}},
		"elsewhere": {Reason: "profiles of other parents do not count", Objects: []kind.Object{parent(), elsewhere}, Request: admissiontest.Request{Object: newer, Old: parent()}},
		"itself": {
			Reason: "what a profile has itself it does not lose with the parent", Objects: []kind.Object{parent(), own(mine), onOwn(running("mine"))},
			Request: admissiontest.Request{Object: parent(), Old: parent(with(mine))},
		},
		"inherited": {
			Reason: "what it has of the parent it does", Objects: []kind.Object{parent(with(mine)), admissiontest.NamespacedProfile(), onOwn(running("mine"))},
			Request: admissiontest.Request{Object: parent(), Old: parent(with(mine))}, Refused: []string{`machine image mine 1.0.0 cannot be removed from NamespacedCloudProfile "own"`},
		},
		"added": {Reason: "an image that no project has is welcome", Objects: []kind.Object{parent(), own(mine)}, Request: admissiontest.Request{Object: parent(with(image("new", "1.0.0", on64))), Old: parent()}},
		"version": {
			Reason: "so is a version of Kubernetes that one has extended", Objects: []kind.Object{parent(), admissiontest.NamespacedProfile(func(p *ownProfile) {
				p.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.37.0", ExpirationDate: &metav1.Time{Time: kindtest.Now().Add(time.Hour)}}}}
			})},
			Request: admissiontest.Request{Object: parent(func(p *profile) {
				p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: "1.37.0"})
			}), Old: parent()},
		},
		"namesake": {
			Reason: "a shoot with the profile of its project of the same name does not count", Objects: []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.CloudProfile.Kind = "NamespacedCloudProfile" })},
			Request: admissiontest.Request{Object: newer, Old: parent()},
		},
	})
}

// TestCapabilities_API_RRM_10 takes capabilities from a profile.
func TestCapabilities_API_RRM_10(t *testing.T) {
	t.Parallel()
	offering := func(boot ...string) *profile {
		return admissiontest.Profile(func(p *profile) {
			p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "boot", Values: boot}}
			p.Spec.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"amd64"}}
			p.Spec.MachineImages[0].Versions[0].Architectures = nil
			p.Spec.MachineImages[0].Versions[0].CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}}}}
		})
	}
	flavoured := own(image("mine", "1.0.0", func(v *gardencorev1beta1.MachineImageVersion) {
		v.CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"uefi"}}}}
	}))
	fast := admissiontest.NamespacedProfile(func(p *ownProfile) {
		p.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: "fast", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi"), Capabilities: gardencorev1beta1.Capabilities{"boot": {"uefi"}}}}
	})
	lose := func(kept string) admissiontest.Request {
		return admissiontest.Request{Object: offering(kept), Old: offering("uefi", "bios")}
	}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"image":         {Reason: "a capability that an image of a project has stays", Objects: []kind.Object{offering("uefi", "bios"), flavoured}, Request: lose("bios"), Refused: []string{"boot=uefi cannot be removed: machine image mine 1.0.0"}},
		"other image":   {Reason: "another may go", Objects: []kind.Object{offering("uefi", "bios"), flavoured}, Request: lose("uefi")},
		"other machine": {Reason: "also under machine types", Objects: []kind.Object{offering("uefi", "bios"), fast}, Request: lose("uefi")},
	})
}

// TestLimits_API_RRM_10 lowers limits and judges who counts.
func TestLimits_API_RRM_10(t *testing.T) {
	t.Parallel()
	upTo := func(nodes int32) *profile {
		return admissiontest.Profile(func(p *profile) { p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &nodes} })
	}
	ownUpTo := func(nodes int32) *ownProfile {
		return admissiontest.NamespacedProfile(func(p *ownProfile) { p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &nodes} })
	}
	big := func(s *shoot) { s.Spec.Provider.Workers[0].Minimum, s.Spec.Provider.Workers[0].Maximum = 5, 5 }
	tooMany := []string{"spec.limits.maxNodesTotal", "garden-meadow/sprout has at least 5 machines"}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"inherited":   {Reason: "a project has the limit of the parent", Objects: []kind.Object{upTo(9), admissiontest.NamespacedProfile(), onOwn(big)}, Request: admissiontest.Request{Object: upTo(3), Old: admissiontest.Profile()}, Refused: tooMany},
		"its own":     {Reason: "unless it has its own", Objects: []kind.Object{admissiontest.Profile(), ownUpTo(9), onOwn(big)}, Request: admissiontest.Request{Object: upTo(3), Old: admissiontest.Profile()}},
		"own lowered": {Reason: "which is not lowered below what there is either", Objects: []kind.Object{admissiontest.Profile(), onOwn(big)}, Request: admissiontest.Request{Object: ownUpTo(3), Old: ownUpTo(9)}, Refused: tooMany},
		"own raised":  {Reason: "to raise one that is exceeded helps", Objects: []kind.Object{admissiontest.Profile(), onOwn(big)}, Request: admissiontest.Request{Object: ownUpTo(4), Old: ownUpTo(3)}},
		"raised":      {Reason: "also in the parent", Objects: []kind.Object{admissiontest.Shoot(big)}, Request: admissiontest.Request{Object: upTo(4), Old: upTo(3)}},
		"kept": {
			Reason: "a limit that stays is not looked at when something else goes", Objects: []kind.Object{admissiontest.Shoot(big)},
			Request: admissiontest.Request{Object: upTo(3), Old: admissiontest.Profile(func(p *profile) { with(image("old", "1.0.0", on64))(p); p.Spec.Limits = upTo(3).Spec.Limits })},
		},
		"expired image": {
			Reason: "an image that lives by the extension alone stays",
			Objects: []kind.Object{
				admissiontest.Profile(func(p *profile) {
					all := &p.Spec.MachineImages[0].Versions
					*all = append(*all, image("local", "2.0.0", on64).Versions...)
					until(kindtest.Now().Add(-time.Hour))(&(*all)[0])
				}), onOwn(),
			},
			Request: admissiontest.Request{Object: own(), Old: own(image("local", "1.0.0", until(kindtest.Now().Add(time.Hour))))},
			Refused: []string{`machine image local 1.0.0 cannot be removed from NamespacedCloudProfile "own"`},
		},
	})
}

// TestGoing_API_RRM_10 takes away what only a shoot in deletion uses.
func TestGoing_API_RRM_10(t *testing.T) {
	t.Parallel()
	newer := admissiontest.Profile(func(p *profile) { p.Spec.Kubernetes.Versions[0].Version = "1.37.0" })
	leaving := admissiontest.Shoot(func(s *shoot) { s.Finalizers = []string{"example.org/hold"} })
	kubelet := admissiontest.Shoot(func(s *shoot) {
		s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{}}
	})
	ask := admissiontest.Request{Object: newer, Old: admissiontest.Profile()}
	g := admissiontest.New(t, nil, leaving)
	g.DeleteFrom(admissiontest.Namespace, "shoots", "sprout")
	if err := g.Ask(resourcereference.New(g.World), ask); err != nil {
		t.Errorf("a shoot in deletion needs no new machines: %v", err)
	}
	g = admissiontest.New(t, nil, kubelet)
	if err := g.Ask(resourcereference.New(g.World), ask); err == nil {
		t.Error("a pool with settings of its own, and the version of the shoot, uses that")
	}
}

// TestOtherUpdates_API_RRM_6 writes objects whose relations to others stay.
func TestOtherUpdates_API_RRM_6(t *testing.T) {
	t.Parallel()
	bound := admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = new("a") })
	bucket := func(region string) *gardencorev1beta1.BackupBucket {
		return &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: gardencorev1beta1.BackupBucketSpec{
			Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: region}, SeedName: new("a"),
		}}
	}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "e"}, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("a")}}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-6 seed": {
			Reason: "a seed with shoots changes otherwise", Objects: []kind.Object{bound},
			Request: admissiontest.Request{Object: admissiontest.Seed("a", func(s *seed) { s.Spec.Provider.Zones = []string{"a", "b", "c"} }), Old: admissiontest.Seed("a")},
		},
		"API-RRM-9 bucket": {Reason: "so does a bucket with entries", Objects: []kind.Object{entry}, Request: admissiontest.Request{Object: bucket("south"), Old: bucket("north")}},
	})
}

// TestTypes_API_RRM_10 takes types of machines and volumes from the profile of a project.
func TestTypes_API_RRM_10(t *testing.T) {
	t.Parallel()
	fast := gardencorev1beta1.MachineType{Name: "fast", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi"), Architecture: new("amd64")}
	full := admissiontest.NamespacedProfile(func(p *ownProfile) {
		p.Spec.MachineTypes = []gardencorev1beta1.MachineType{fast}
		p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "quick", Class: "premium"}}
	})
	inherited := admissiontest.Profile(func(p *profile) { p.Spec.MachineTypes = append(p.Spec.MachineTypes, fast) })
	machine := onOwn(func(s *shoot) { s.Spec.Provider.Workers[0].Machine.Type = "fast" })
	volume := onOwn(func(s *shoot) {
		s.Spec.Provider.Workers[0].Volume = &gardencorev1beta1.Volume{Type: new("quick"), Size: "20Gi"}
	})
	untyped := onOwn(func(s *shoot) { s.Spec.Provider.Workers[0].Volume = &gardencorev1beta1.Volume{Size: "20Gi"} })
	empty := admissiontest.Request{Object: admissiontest.NamespacedProfile(), Old: full}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"machine": {
			Reason: "a machine type in use stays", Objects: []kind.Object{admissiontest.Profile(), machine}, Request: empty,
			Refused: []string{`machine type fast cannot be removed from NamespacedCloudProfile "own": shoot garden-meadow/sprout (worker pool "one") uses it`},
		},
		"volume": {
			Reason: "so does a volume type", Objects: []kind.Object{admissiontest.Profile(), volume}, Request: empty,
			Refused: []string{`volume type quick cannot be removed from NamespacedCloudProfile "own": shoot garden-meadow/sprout (worker pool "one") uses it`},
		},
		"unused":    {Reason: "others may go", Objects: []kind.Object{admissiontest.Profile(), untyped}, Request: empty},
		"inherited": {Reason: "so may one that the parent has", Objects: []kind.Object{inherited, machine}, Request: empty},
		"kept":      {Reason: "what stays is not looked at", Objects: []kind.Object{admissiontest.Profile(), machine}, Request: admissiontest.Request{Object: full, Old: full.DeepCopy()}},
	})
}
