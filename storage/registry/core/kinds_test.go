// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

func TestExposureClass(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.ExposureClass
	ctx := kindtest.Context(t, "", "rose")
	classes := kindtest.Of[*object](t, served(t), "exposureclasses")
	c := classes.MustCreate(ctx, &object{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Handler: "internet"})
	if diff := cmp.Diff(map[string]string{"Handler": "internet"}, classes.Row(ctx, c)); diff != "" || c.Generation != 0 {
		t.Errorf("API-STRAT-1, API-RES-11: a class has no generation, got %d; cells (-want +got):\n%s", c.Generation, diff)
	}
	c.ResourceVersion = ""
	if _, err := classes.Update(ctx, c); !apierrors.IsInvalid(err) {
		t.Errorf("API-STRAT-8: an update says what it changes, got %v", err)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.Quota
	ctx := kindtest.Context(t, "garden", "rose")
	quotas := kindtest.Of[*object](t, served(t), "quotas")
	q := quotas.MustCreate(ctx, &object{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "q"},
		Spec:       gardencorev1beta1.QuotaSpec{Scope: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"}},
	})
	want := map[string]string{"Scope": "core.gardener.cloud/v1beta1.Project", "Cluster Lifetime": "<unspecified>"}
	if diff := cmp.Diff(want, quotas.Row(ctx, q)); diff != "" || q.Generation != 0 {
		t.Errorf("API-STRAT-1, API-RES-11: a quota has no generation, got %d; cells (-want +got):\n%s", q.Generation, diff)
	}
	q.ResourceVersion, q.Spec.ClusterLifetimeDays = "", new(int32(14))
	q = quotas.MustUpdate(ctx, q)
	want["Cluster Lifetime"] = "14 days"
	if diff := cmp.Diff(want, quotas.Row(ctx, q)); diff != "" {
		t.Errorf("API-STRAT-8, API-RES-11: after an update without a version (-want +got):\n%s", diff)
	}
}

func TestShootState(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.ShootState
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	states := kindtest.Of[*object](t, served(t), "shootstates")
	s := states.MustCreate(ctx, &object{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "s"}})
	s.Spec.Gardener = []gardencorev1beta1.GardenerResourceData{{Name: "a", Type: "secret"}, {Name: "b", Type: "secret"}}
	s.Spec.Extensions = []gardencorev1beta1.ExtensionResourceState{{Kind: "Worker"}}
	if s = states.MustUpdate(ctx, s); s.Generation != 2 {
		t.Errorf("API-STRAT-2: another state is a new generation, got %d", s.Generation)
	}
	if diff := cmp.Diff(map[string]string{"Gardener Data": "2", "Extension States": "1"}, states.Row(ctx, s)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
}

func TestPlant(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.Plant
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	all := served(t)
	plants, status := kindtest.Of[*object](t, all, "plants"), kindtest.Of[*object](t, all, "plants/status")
	p := plants.MustCreate(ctx, &object{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "p"},
		Spec:       gardencorev1beta1.PlantSpec{SecretRef: corev1.LocalObjectReference{Name: "key"}},
	})
	unknown := "<unknown>"
	want := map[string]string{"Type": unknown, "Region": unknown, "Version": unknown, "APIServer": unknown, "Nodes": unknown}
	if diff := cmp.Diff(want, plants.Row(ctx, p)); diff != "" {
		t.Errorf("API-RES-11: cells of a new plant (-want +got):\n%s", diff)
	}
	p.Status.ClusterInfo = &gardencorev1beta1.ClusterInfo{Cloud: gardencorev1beta1.CloudInfo{Type: "gce", Region: "europe"}}
	p.Status.Conditions = []gardencorev1beta1.Condition{{Type: "APIServerAvailable", Status: "True"}, {Type: "EveryNodeReady", Status: "False"}}
	p.Spec.SecretRef.Name = "other"
	p = status.MustUpdate(ctx, p)
	want = map[string]string{"Type": "gce", "Region": "europe", "Version": unknown, "APIServer": "True", "Nodes": "False"}
	if diff := cmp.Diff(want, plants.Row(ctx, p)); diff != "" || p.Spec.SecretRef.Name != "key" {
		t.Errorf("API-RES-7, API-RES-11: Secret %q, want %q; cells of a plant (-want +got):\n%s", p.Spec.SecretRef.Name, "key", diff)
	}
	p.Spec.SecretRef.Name = "other"
	if p = plants.MustUpdate(ctx, p); p.Generation != 2 || p.Status.ClusterInfo == nil {
		t.Errorf("API-STRAT-2, API-RES-7: another spec is a new generation, got %d, and leaves the status, got %v", p.Generation, p.Status)
	}
}

type addition = gardencorev1beta1.NamespacedCloudProfile

func ending(name string, end time.Time) gardencorev1beta1.ExpirableVersion {
	return gardencorev1beta1.ExpirableVersion{Version: name, ExpirationDate: &metav1.Time{Time: end}}
}

func image(name string, versions ...gardencorev1beta1.ExpirableVersion) gardencorev1beta1.MachineImage {
	i := gardencorev1beta1.MachineImage{Name: name}
	for _, v := range versions {
		i.Versions = append(i.Versions, gardencorev1beta1.MachineImageVersion{ExpirableVersion: v})
	}
	return i
}

// told is what a profile adds, in words.
func told(p *addition) []string {
	var all []string
	if p.Spec.Kubernetes != nil {
		for _, v := range p.Spec.Kubernetes.Versions {
			all = append(all, v.Version)
		}
	}
	for _, i := range p.Spec.MachineImages {
		all = append(all, i.Name)
		for _, v := range i.Versions {
			all = append(all, i.Name+" "+v.Version)
		}
	}
	return all
}

func TestNamespacedCloudProfile(t *testing.T) {
	t.Parallel()
	gone, soon := kindtest.Now().Add(-time.Hour), kindtest.Now().Add(time.Hour)
	ctx := kindtest.Context(t, "garden-meadow", "rose")
	profiles := kindtest.Of[*addition](t, served(t), "namespacedcloudprofiles")
	given := &addition{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "p"}}
	given.Spec.Parent = gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	given.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{ending("1.35.0", gone), ending("1.36.0", soon)}}
	kept := image("kept", ending("1.0.0", gone))
	kept.UpdateStrategy = new(gardencorev1beta1.MachineImageUpdateStrategyMinor)
	given.Spec.MachineImages = []gardencorev1beta1.MachineImage{image("a", ending("1.0.0", gone), ending("1.1.0", soon)), image("dropped", ending("1.0.0", gone)), kept}
	p := profiles.MustCreate(ctx, given)
	if diff := cmp.Diff([]string{"1.36.0", "a", "a 1.1.0", "kept"}, told(p)); diff != "" || p.Generation != 1 {
		t.Errorf("API-STRAT-13: a new profile drops what has expired; generation %d (-want +got):\n%s", p.Generation, diff)
	}
	p.Spec.Kubernetes.Versions = []gardencorev1beta1.ExpirableVersion{ending("1.35.0", gone), ending("1.36.0", gone)}
	p.Spec.MachineImages = []gardencorev1beta1.MachineImage{image("a", ending("1.1.0", gone), ending("1.2.0", gone)), image("b", ending("1.0.0", gone))}
	p = profiles.MustUpdate(ctx, p)
	if diff := cmp.Diff([]string{"1.36.0", "a", "a 1.1.0"}, told(p)); diff != "" || p.Generation != 2 {
		t.Errorf("API-STRAT-13: what was there before may expire; generation %d (-want +got):\n%s", p.Generation, diff)
	}
	want := map[string]string{"Parent Name": "local", "Parent Kind": "CloudProfile"}
	if diff := cmp.Diff(want, profiles.Row(ctx, p)); diff != "" {
		t.Errorf("API-RES-11: cells (-want +got):\n%s", diff)
	}
}
