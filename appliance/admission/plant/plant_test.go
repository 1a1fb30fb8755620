// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/plant"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func watching(name, secret string) *gardencorev1beta1.Plant {
	return &gardencorev1beta1.Plant{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name},
		Spec:       gardencorev1beta1.PlantSpec{SecretRef: corev1.LocalObjectReference{Name: secret}},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	going := watching("a", "s")
	going.DeletionTimestamp = new(metav1.Now())
	other := []kind.Object{admissiontest.Project(), watching("b", "s")}
	admissiontest.Run(t, plant.New, map[string]admissiontest.Case{
		"API-PLANT-1 first":      {Reason: "a cluster can be watched", Objects: other[:1], Request: admissiontest.Request{Object: watching("a", "s")}},
		"API-PLANT-1 second":     {Reason: "once", Objects: other, Request: admissiontest.Request{Object: watching("a", "s")}, Refused: []string{"spec.secretRef.name", `plant "b"`}},
		"API-PLANT-1 other":      {Reason: "others likewise", Objects: other, Request: admissiontest.Request{Object: watching("a", "t")}},
		"API-PLANT-1 update":     {Reason: "an update is no second one", Objects: other, Request: admissiontest.Request{Object: watching("b", "s"), Old: watching("b", "s")}},
		"API-PLANT-1 moved":      {Reason: "but may become one", Objects: other, Request: admissiontest.Request{Object: watching("a", "s"), Old: watching("a", "t")}, Refused: []string{`plant "b"`}},
		"API-PLANT-1 kept":       {Reason: "nor is the second of two that are there", Objects: other, Request: admissiontest.Request{Object: watching("a", "s"), Old: watching("a", "s")}},
		"API-PLANT-1 part":       {Reason: "reports are not looked at", Request: admissiontest.Request{Object: watching("a", "s"), Old: watching("a", "t"), Subresource: "status"}},
		"API-ADM-4 others":       {Reason: "nor are other kinds", Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"API-PLANT-1 unknown":    {Reason: "there may be another plant", Objects: other[:1], Failing: "plants", Request: admissiontest.Request{Object: watching("a", "s")}},
		"API-PLANT-1 unplaced":   {Reason: "the project may be going", Failing: "projects", Request: admissiontest.Request{Object: watching("a", "s")}},
		"API-PLANT-1 gone":       {Reason: "a plant can go from a namespace without a project", Request: admissiontest.Request{Object: going, Old: watching("a", "s")}},
		"API-ADM-6 going":        {Reason: "a plant can always go", Objects: other, Request: admissiontest.Request{Object: going, Old: watching("a", "s")}},
		"API-PLANT-1 no project": {Reason: "plants live in projects", Request: admissiontest.Request{Object: watching("a", "s")}, Refused: []string{"does not belong to a project"}},
	})
}

func TestEndingProject(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Finalizers = []string{"gardener"} }))
	g.Delete("projects", "meadow")
	if err := g.Ask(plant.New(g.World), admissiontest.Request{Object: watching("a", "s")}); err == nil {
		t.Error("API-PLANT-1: nothing new grows in a project that is going")
	}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Project())
	p := watching("a", "s")
	if err := g.Ask(plant.New(g.World), admissiontest.Request{Object: p}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"gardener.cloud/created-by": "rose"}, p.Annotations); diff != "" {
		t.Errorf("API-PLANT-1: an annotation names the creator (-want +got):\n%s", diff)
	}
	for _, r := range []admissiontest.Request{{Object: p, Old: watching("a", "s"), User: "bob"}, {Object: p, Subresource: "status", User: "bob"}} {
		if err := g.Ask(plant.New(g.World), r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"gardener.cloud/created-by": "rose"}, p.Annotations); diff != "" {
		t.Errorf("API-PLANT-1: which nobody is who changes or reports it (-want +got):\n%s", diff)
	}
}

// TestLooksPastTheCache_API_PLANT_1 makes a second Plant for a Secret right after the first one.
func TestLooksPastTheCache_API_PLANT_1(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Project(), watching("b", "s"))
	err := g.Ask(plant.New(g.Behind("plants")), admissiontest.Request{Object: watching("a", "s")})
	if !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden: Plants are listed from the store, not from the cache", err)
	}
}
