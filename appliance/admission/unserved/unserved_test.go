// SPDX-License-Identifier: Apache-2.0

package unserved_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/unserved"
)

type shoot = gardencorev1beta1.Shoot

func onSeed(s *shoot) { s.Spec.SeedName = new("a") }

func runs(s *shoot) {
	onSeed(s)
	s.Status.SeedName = new("a")
}

func available(s *shoot) {
	s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{}}
}

func moved(s *shoot) { s.Spec.SeedName = new("b") }

func going(s *shoot) { s.DeletionTimestamp = &metav1.Time{} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	admissiontest.Run(t, unserved.New, map[string]admissiontest.Case{
		"moved already": {
			Reason:  "another change does not set it",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, moved, available), Old: admissiontest.Shoot(runs, moved)},
		},
		"moved without a report": {
			Reason:  "no gardenlet has said yet that it runs the shoot",
			Request: admissiontest.Request{Object: admissiontest.Shoot(moved), Old: admissiontest.Shoot(onSeed), Subresource: "binding"},
		},
		"moved": {
			Reason:  "its gardenlet would leave it alone for good",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, moved), Old: admissiontest.Shoot(runs), Subresource: "binding"},
			Refused: []string{"spec.seedName (another seed than status.seedName) is not served yet"},
		},
		"moved back": {
			Reason:  "it is the way out",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs), Old: admissiontest.Shoot(runs, moved), Subresource: "binding"},
		},
		"available": {
			Reason:  "a setting that is ignored breaks nothing",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, available), Old: admissiontest.Shoot(runs)},
		},
		"in deletion": {
			Reason:  "nothing is set any more",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, moved, going), Old: admissiontest.Shoot(runs)},
		},
		"status": {
			Reason:  "a gardenlet says where the shoot is",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, moved), Old: admissiontest.Shoot(moved), Subresource: "status"},
		},
	})
}

// notes keeps the warnings of a request.
type notes []string

func (n *notes) AddWarning(_, text string) {
	*n = append(*n, strings.SplitN(text, " is not served yet", 2)[0])
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		object, old runtime.Object
		sub         string
		groups      []string
		want        notes
	}{
		"plain":     {reason: "nothing to say", object: admissiontest.Shoot()},
		"new":       {reason: "everything of a new object is set", object: admissiontest.Shoot(runs, moved, available), want: notes{"spec.seedName (another seed than status.seedName)", "spec.controlPlane.highAvailability"}},
		"added":     {reason: "only what is new", object: admissiontest.Shoot(runs, moved, available), old: admissiontest.Shoot(runs, moved), want: notes{"spec.controlPlane.highAvailability"}},
		"kept":      {reason: "who set it was told", object: admissiontest.Shoot(available), old: admissiontest.Shoot(available)},
		"gardenlet": {reason: "nobody reads it", object: admissiontest.Shoot(available), groups: []string{gardencorev1beta1.GroupSeeds}},
		"status":    {reason: "the status sets nothing", object: admissiontest.Shoot(available), old: admissiontest.Shoot(), sub: "status"},
		"kind":      {reason: "of a new object", object: &gardencorev1beta1.ShootState{}, want: notes{"kind ShootState"}},
		"same kind": {reason: "who created it was told", object: &gardencorev1beta1.ShootState{}, old: &gardencorev1beta1.ShootState{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := admission.Create
			if tc.old != nil {
				operation = admission.Update
			}
			var told notes
			a := admission.NewAttributesRecord(tc.object, tc.old, gardencorev1beta1.GroupVersion.WithKind("Shoot"), admissiontest.Namespace, "a",
				gardencorev1beta1.GroupVersion.WithResource("shoots"), tc.sub, operation, nil, false, &user.DefaultInfo{Name: "rose", Groups: tc.groups})
			rule := unserved.New(nil).(admission.MutationInterface)
			if err := rule.Admit(warning.WithWarningRecorder(t.Context(), &told), a, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
