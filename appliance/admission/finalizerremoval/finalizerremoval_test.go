// SPDX-License-Identifier: Apache-2.0

package finalizerremoval_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/finalizerremoval"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot   = gardencorev1beta1.Shoot
	binding = gardencorev1beta1.SecretBinding
)

func held(change ...func(*shoot)) *shoot {
	return admissiontest.Shoot(append(change, func(s *shoot) { s.Finalizers = []string{"gardener", "other"} })...)
}

func at(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState, progress int32) func(*shoot) {
	return func(s *shoot) {
		s.Status.TechnicalID = "shoot--meadow--sprout"
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state, Progress: progress}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	free := func(old *shoot, subresource string) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(), Old: old, Subresource: subresource}
	}
	release := admissiontest.Request{Object: admissiontest.Binding(), Old: admissiontest.Binding(func(b *binding) { b.Finalizers = []string{"gardener"} })}
	admissiontest.Run(t, finalizerremoval.New, map[string]admissiontest.Case{
		"API-SVAL-10 running":     {Reason: "a shoot that runs is held", Request: free(held(at("Create", "Succeeded", 100)), ""), Refused: []string{"everything of the shoot is gone"}},
		"API-SVAL-10 deleting":    {Reason: "until all of it is deleted", Request: free(held(at("Delete", "Processing", 100)), ""), Refused: []string{"everything of the shoot is gone"}},
		"API-SVAL-10 nearly":      {Reason: "all of it", Request: free(held(at("Delete", "Succeeded", 99)), ""), Refused: []string{"everything of the shoot is gone"}},
		"API-SVAL-10 binding":     {Reason: "by whichever way", Request: free(held(at("Create", "Succeeded", 100)), "binding"), Refused: []string{"everything of the shoot is gone"}},
		"API-SVAL-10 deleted":     {Reason: "then it is let go", Request: free(held(at("Delete", "Succeeded", 100)), "")},
		"API-SVAL-10 never":       {Reason: "what was never made is let go", Request: free(held(), "")},
		"API-SVAL-10 no op":       {Reason: "without an operation nothing was made", Request: free(held(func(s *shoot) { s.Status.TechnicalID = "x" }), "")},
		"API-SVAL-10 others":      {Reason: "other finalizers are nobody's business", Request: admissiontest.Request{Object: admissiontest.Shoot(func(s *shoot) { s.Finalizers = []string{"gardener"} }), Old: held(at("Create", "Succeeded", 100))}},
		"API-SVAL-10 status":      {Reason: "the status has no finalizers", Request: free(held(at("Create", "Succeeded", 100)), "status")},
		"API-SVAL-10 prepared":    {Reason: "an operation that was never begun in a seed has made nothing", Request: free(held(at("Create", "Processing", 0), func(s *shoot) { s.Status.TechnicalID = "" }), "")},
		"API-FIN-1 unknown":       {Reason: "nothing is let go while its users are unknown", Failing: "shoots", Request: release},
		"API-FIN-1 used":          {Reason: "credentials in use are held", Objects: []kind.Object{admissiontest.Shoot(admissiontest.Formerly)}, Request: release, Refused: []string{`SecretBinding "local"`, `shoot "sprout" uses it`}},
		"API-FIN-1 unused":        {Reason: "others are let go", Request: release},
		"API-FIN-1 other binding": {Reason: "another binding does not count", Objects: []kind.Object{admissiontest.Shoot(admissiontest.Formerly, func(s *shoot) { s.Spec.SecretBindingName = new("other") })}, Request: release},
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	credentials := func(finalizers ...string) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "local", Finalizers: finalizers}}
	}
	release := admissiontest.Request{Object: credentials(), Old: credentials("gardener")}
	using := admissiontest.Shoot()
	admissiontest.Run(t, finalizerremoval.New, map[string]admissiontest.Case{
		"API-FIN-1 credentials":  {Reason: "credentials in use are held, however they are bound", Objects: []kind.Object{using}, Request: release, Refused: []string{`CredentialsBinding "local"`, `shoot "sprout" uses it`}},
		"API-FIN-1 other kind":   {Reason: "a secret binding of the same name is another one", Objects: []kind.Object{admissiontest.Shoot(admissiontest.Formerly)}, Request: release},
		"API-FIN-1 still there":  {Reason: "what stays is not looked at", Objects: []kind.Object{using}, Request: admissiontest.Request{Object: credentials("gardener"), Old: credentials("gardener")}},
		"API-FIN-1 was not held": {Reason: "what was not held is not let go", Objects: []kind.Object{using}, Request: admissiontest.Request{Object: credentials(), Old: credentials()}},
	})
}

// TestOwnProfile_API_FIN_1 lets profiles of a project go.
func TestOwnProfile_API_FIN_1(t *testing.T) {
	t.Parallel()
	profile := func(finalizers ...string) *gardencorev1beta1.NamespacedCloudProfile {
		return admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Finalizers = finalizers })
	}
	with := func(which, name string) []kind.Object {
		return []kind.Object{admissiontest.Shoot(func(s *shoot) {
			s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: which, Name: name}
		})}
	}
	release := admissiontest.Request{Object: profile(), Old: profile("gardener")}
	admissiontest.Run(t, finalizerremoval.New, map[string]admissiontest.Case{
		"used":        {Reason: "one in use is held", Objects: with("NamespacedCloudProfile", "own"), Request: release, Refused: []string{`NamespacedCloudProfile "own"`, `shoot "sprout" uses it`}},
		"unused":      {Reason: "others are let go", Objects: with("NamespacedCloudProfile", "second"), Request: release},
		"namesake":    {Reason: "one of the garden of the same name is another one", Objects: with("CloudProfile", "own"), Request: release},
		"still there": {Reason: "what stays is not looked at", Objects: with("NamespacedCloudProfile", "own"), Request: admissiontest.Request{Object: profile("gardener"), Old: profile("gardener", "other")}},
	})
}

func TestProject(t *testing.T) {
	t.Parallel()
	project := func(finalizers ...string) *gardencorev1beta1.Project {
		return admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Finalizers = finalizers })
	}
	unplaced := project("gardener")
	unplaced.Spec.Namespace = nil
	release, one := admissiontest.Request{Object: project(), Old: project("gardener")}, []kind.Object{admissiontest.Shoot()}
	admissiontest.Run(t, finalizerremoval.New, map[string]admissiontest.Case{
		"GCM-PROJECT-10 shoots":      {Reason: "no shoot is left without a project", Objects: one, Request: release, Refused: []string{`project "meadow"`, "delete them first: garden-meadow/sprout"}},
		"GCM-PROJECT-10 none":        {Reason: "an empty one is let go", Request: release},
		"GCM-PROJECT-10 others'":     {Reason: "shoots of others do not count", Objects: []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Namespace = "garden-wood" })}, Request: release},
		"GCM-PROJECT-10 nowhere":     {Reason: "without a namespace there are none", Objects: one, Request: admissiontest.Request{Object: project(), Old: unplaced}},
		"GCM-PROJECT-10 unknown":     {Reason: "nothing is let go while it is unknown whether it is empty", Failing: "shoots", Request: release},
		"GCM-PROJECT-10 still there": {Reason: "what stays is not looked at", Objects: one, Request: admissiontest.Request{Object: project("gardener"), Old: project("gardener", "other")}},
	})
}

// TestMessage shows what the user reads who takes the finalizer from a shoot that runs in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	err := g.Ask(finalizerremoval.New(g.World), admissiontest.Request{Object: admissiontest.Shoot(), Old: held(at("Create", "Succeeded", 100))})
	want := `shoots.core.gardener.cloud "sprout" is forbidden: the finalizer "gardener" is removed by the gardenlet once everything of the shoot is gone from its seed`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
