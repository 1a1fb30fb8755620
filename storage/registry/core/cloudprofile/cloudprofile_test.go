// SPDX-License-Identifier: Apache-2.0

package cloudprofile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/cloudprofile"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

type object = gardencorev1beta1.CloudProfile

func version(name string, expires *metav1.Time) gardencorev1beta1.ExpirableVersion {
	return gardencorev1beta1.ExpirableVersion{Version: name, ExpirationDate: expires}
}

func local(images []gardencorev1beta1.MachineImageVersion, versions ...gardencorev1beta1.ExpirableVersion) *object {
	return &object{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: gardencorev1beta1.CloudProfileSpec{
		Type:          "local",
		Kubernetes:    gardencorev1beta1.KubernetesSettings{Versions: versions},
		MachineImages: []gardencorev1beta1.MachineImage{{Name: "local", Versions: images}},
		MachineTypes:  []gardencorev1beta1.MachineType{{Name: "small", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi")}},
		Regions:       []gardencorev1beta1.Region{{Name: "north"}},
	}}
}

func names(p *object) []string {
	var all []string
	for _, v := range p.Spec.Kubernetes.Versions {
		all = append(all, v.Version)
	}
	for _, v := range p.Spec.MachineImages[0].Versions {
		all = append(all, "image "+v.Version)
	}
	return all
}

func TestExpiredVersions(t *testing.T) {
	t.Parallel()
	gone, soon := metav1.NewTime(kindtest.Now().Add(-time.Hour)), metav1.NewTime(kindtest.Now().Add(time.Hour))
	ctx := kindtest.Context(t, "", "rose")
	all, err := cloudprofile.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	profiles := kindtest.Of[*object](t, all, "cloudprofiles")
	images := []gardencorev1beta1.MachineImageVersion{{ExpirableVersion: version("1.0.0", &gone)}, {ExpirableVersion: version("1.1.0", &soon)}, {ExpirableVersion: version("1.2.0", nil)}}

	p := profiles.MustCreate(ctx, local(images, version("1.34.0", &gone), version("1.35.0", &soon), version("1.36.3", nil)))
	if diff := cmp.Diff([]string{"1.35.0", "1.36.3", "image 1.1.0", "image 1.2.0"}, names(p)); diff != "" {
		t.Errorf("API-STRAT-12: a new profile drops what has expired (-want +got):\n%s", diff)
	}
	p.Spec.Kubernetes.Versions[0].ExpirationDate = &gone
	p = profiles.MustUpdate(ctx, p)
	if diff := cmp.Diff([]string{"1.35.0", "1.36.3", "image 1.1.0", "image 1.2.0"}, names(p)); diff != "" {
		t.Errorf("API-STRAT-12: an existing one may keep it (-want +got):\n%s", diff)
	}
	if p.Generation != 0 {
		t.Errorf("API-STRAT-1: a profile has no generation, got %d", p.Generation)
	}

	dead := local([]gardencorev1beta1.MachineImageVersion{{ExpirableVersion: version("1.0.0", &gone)}}, version("1.36.3", nil))
	dead.Name = "dead"
	if _, err := profiles.Create(ctx, dead); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.machineImages[0].versions") {
		t.Errorf("a profile that has nothing left is refused, got %v", err)
	}
	if got := profiles.Row(ctx, p)["Provider"]; got != "local" {
		t.Errorf("API-RES-11: provider %q", got)
	}
}

func TestArchitectures(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	all, err := cloudprofile.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	profiles := kindtest.Of[*object](t, all, "cloudprofiles")
	type capabilities = gardencorev1beta1.Capabilities
	flavors := []gardencorev1beta1.MachineImageFlavor{
		{Capabilities: capabilities{"architecture": {"arm64"}}}, {Capabilities: capabilities{"architecture": {"amd64"}}},
	}
	given := local([]gardencorev1beta1.MachineImageVersion{
		{ExpirableVersion: version("1.0.0", nil), CapabilityFlavors: flavors},
		{ExpirableVersion: version("1.1.0", nil), Architectures: []string{"amd64"}},
	}, version("1.36.3", nil))
	given.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}}
	given.Spec.MachineTypes[0].Capabilities = capabilities{"architecture": {"arm64"}}

	p := profiles.MustCreate(ctx, given)
	images := p.Spec.MachineImages[0].Versions
	if diff := cmp.Diff([][]string{{"arm64", "amd64"}, {"amd64"}}, [][]string{images[0].Architectures, images[1].Architectures}); diff != "" {
		t.Errorf("the older field of an image lists the architectures of its flavors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]gardencorev1beta1.MachineImageFlavor{{Capabilities: capabilities{"architecture": {"amd64"}}}}, images[1].CapabilityFlavors); diff != "" {
		t.Errorf("what only the older field says becomes a flavor (-want +got):\n%s", diff)
	}
	if a := p.Spec.MachineTypes[0].Architecture; a == nil || *a != "arm64" {
		t.Errorf("the older field of a machine type names its architecture, got %v", a)
	}
}

func TestVersionsToCome(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	all, err := cloudprofile.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	later := metav1.NewTime(kindtest.Now().Add(time.Hour))
	unborn := version("1.37.0", nil)
	unborn.Lifecycle = []gardencorev1beta1.LifecycleStage{{Classification: "supported", StartTime: &later}}
	images := []gardencorev1beta1.MachineImageVersion{{ExpirableVersion: version("1.0.0", nil)}}
	p := kindtest.Of[*object](t, all, "cloudprofiles").MustCreate(ctx, local(images, version("1.36.3", nil), unborn))
	if diff := cmp.Diff([]string{"1.36.3", "1.37.0", "image 1.0.0"}, names(p)); diff != "" {
		t.Errorf("API-STRAT-12: a new profile keeps what can be chosen later (-want +got):\n%s", diff)
	}
}
