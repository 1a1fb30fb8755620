// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/bastion"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func to(shoot string) *gardenoperationsv1alpha1.Bastion {
	return &gardenoperationsv1alpha1.Bastion{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "b"},
		Spec:       gardenoperationsv1alpha1.BastionSpec{ShootRef: corev1.LocalObjectReference{Name: shoot}},
	}
}

func scheduled(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	return admissiontest.Shoot(append([]func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }}, change...)...)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	locked := scheduled(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{Enabled: false}}
	})
	open, unsaid := locked.DeepCopy(), locked.DeepCopy()
	open.Spec.Provider.WorkersSettings.SSHAccess.Enabled = true
	unsaid.Spec.Provider.WorkersSettings.SSHAccess = nil
	going := to("gone")
	going.DeletionTimestamp = new(metav1.Now())
	admissiontest.Run(t, bastion.New, map[string]admissiontest.Case{
		"API-BAST-1 fine":     {Reason: "a shoot with machines can be reached", Objects: []kind.Object{scheduled()}, Request: admissiontest.Request{Object: to("sprout")}},
		"API-BAST-1 no name":  {Reason: "it is for a shoot", Request: admissiontest.Request{Object: to("")}, As: metav1.StatusReasonInvalid, Refused: []string{"spec.shootRef.name"}},
		"API-BAST-1 missing":  {Reason: "that exists", Request: admissiontest.Request{Object: to("sprout")}, As: metav1.StatusReasonInvalid, Refused: []string{`no shoot "sprout"`}},
		"API-BAST-1 update":   {Reason: "also later", Request: admissiontest.Request{Object: to("sprout"), Old: to("sprout")}, As: metav1.StatusReasonInvalid, Refused: []string{`no shoot "sprout"`}},
		"API-BAST-1 no seed":  {Reason: "and runs somewhere", Objects: []kind.Object{admissiontest.Shoot()}, Request: admissiontest.Request{Object: to("sprout")}, As: metav1.StatusReasonInvalid, Refused: []string{"no seed yet"}},
		"API-BAST-1 no SSH":   {Reason: "with SSH", Objects: []kind.Object{locked}, Request: admissiontest.Request{Object: to("sprout")}, As: metav1.StatusReasonInvalid, Refused: []string{"sshAccess"}},
		"API-BAST-1 SSH":      {Reason: "which may be turned on", Objects: []kind.Object{open}, Request: admissiontest.Request{Object: to("sprout")}},
		"API-BAST-1 unsaid":   {Reason: "or left alone", Objects: []kind.Object{unsaid}, Request: admissiontest.Request{Object: to("sprout")}},
		"API-BAST-1 part":     {Reason: "reports are not asked about", Request: admissiontest.Request{Object: to("sprout"), Old: to("sprout"), Subresource: "status"}},
		"API-ADM-4 others":    {Reason: "nor other kinds", Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"API-BAST-1 unknown":  {Reason: "there may be a shoot", Failing: "shoots", Request: admissiontest.Request{Object: to("sprout")}},
		"API-BAST-1 deletion": {Reason: "a bastion can always go", Request: admissiontest.Request{Object: going, Old: to("gone")}},
	})
}

func TestEndingShoot(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, scheduled(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"example.org/keep"} }))
	g.DeleteFrom(admissiontest.Namespace, "shoots", "sprout")
	if err := g.Ask(bastion.New(g.World), admissiontest.Request{Object: to("sprout")}); err == nil {
		t.Error("API-BAST-1: a shoot that is going gets no bastion")
	}
	if err := g.Ask(bastion.New(g.World), admissiontest.Request{Object: to("sprout"), Old: to("sprout")}); err != nil {
		t.Errorf("API-BAST-1: one that is there is kept alive: %v", err)
	}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, scheduled())
	shoot, err := g.World.Fresh().Shoot(t.Context(), admissiontest.Namespace, "sprout")
	if err != nil {
		t.Fatal(err)
	}
	forged := to("sprout")
	forged.Spec.SeedName, forged.Annotations = new("other"), map[string]string{"gardener.cloud/created-by": "bob"}
	forged.OwnerReferences = []metav1.OwnerReference{
		{Kind: "Shoot", Name: "other", Controller: new(true)},
		{Kind: "Secret", Name: "mine"},
		{Kind: "Shoot", Name: "sprout", Controller: new(false)},
		{Kind: "Secret", Name: "sprout"},
		{Kind: "Shoot", Name: "friend", Controller: new(false)},
	}
	if err := g.Ask(bastion.New(g.World), admissiontest.Request{Object: forged}); err != nil {
		t.Fatal(err)
	}
	want := to("sprout")
	want.Annotations = map[string]string{"gardener.cloud/created-by": "rose"}
	want.Spec.SeedName, want.Spec.ProviderType = new("a"), new("local")
	want.OwnerReferences = []metav1.OwnerReference{{Kind: "Secret", Name: "mine"}, {Kind: "Secret", Name: "sprout"}, {Kind: "Shoot", Name: "friend", Controller: new(false)}, {
		APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Name: "sprout", UID: shoot.UID, Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if diff := cmp.Diff(want, forged); diff != "" {
		t.Errorf("API-BAST-1: what follows from the shoot is the server's to say (-want +got):\n%s", diff)
	}
	again := forged.DeepCopy()
	if err := g.Ask(bastion.New(g.World), admissiontest.Request{Object: again, Old: forged, User: "bob"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(forged, again); diff != "" {
		t.Errorf("API-BAST-1: an update changes nothing of it (-want +got):\n%s", diff)
	}
}
