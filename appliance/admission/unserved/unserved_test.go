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

// encrypts says that the API server of a shoot encrypts events, and what its owner wants.
func encrypts(resources ...string) func(*shoot) {
	return func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: resources}}
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{Resources: []string{"events"}}}
	}
}

// less encrypts less than what the API server has encrypted.
func less(s *shoot) { encrypts()(s) }

// same encrypts what the API server has encrypted.
func same(s *shoot) { encrypts("events")(s) }

func going(s *shoot) { s.DeletionTimestamp = &metav1.Time{} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	admissiontest.Run(t, unserved.New, map[string]admissiontest.Case{
		"created with less": {
			Reason:  "nothing is there yet that could break, and its owner can take it back",
			Request: admissiontest.Request{Object: admissiontest.Shoot(less, onSeed)},
		},
		"less without a seed": {
			Reason:  "the same before it has a seed",
			Request: admissiontest.Request{Object: admissiontest.Shoot(less), Old: admissiontest.Shoot(same)},
		},
		"less before it runs": {
			Reason:  "a gardenlet may be making it just now",
			Request: admissiontest.Request{Object: admissiontest.Shoot(onSeed, less), Old: admissiontest.Shoot(onSeed, same)},
			Refused: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig (other resources or another provider than the status reports) is not served yet", "keep the old value of the field"},
		},
		"less already": {
			Reason:  "another change does not set it",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, less, available), Old: admissiontest.Shoot(runs, less)},
		},
		"bound with less": {
			Reason:  "a seed is chosen for a shoot that was created so",
			Request: admissiontest.Request{Object: admissiontest.Shoot(less, onSeed), Old: admissiontest.Shoot(less), Subresource: "binding"},
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
		"encrypted no more": {
			Reason:  "its API server could not read what it has written",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, encrypts()), Old: admissiontest.Shoot(runs, encrypts("events"))},
			Refused: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig", "nothing is encrypted anew"},
		},
		"encrypted again": {
			Reason:  "it is the way out",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, encrypts("events")), Old: admissiontest.Shoot(runs, encrypts())},
		},
		"available": {
			Reason:  "a setting that is ignored breaks nothing",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, available), Old: admissiontest.Shoot(runs)},
		},
		"in deletion": {
			Reason:  "nothing is set any more",
			Request: admissiontest.Request{Object: admissiontest.Shoot(runs, less, going), Old: admissiontest.Shoot(runs, same)},
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
		"new":       {reason: "everything of a new object is set", object: admissiontest.Shoot(less, available), want: notes{"spec.controlPlane.highAvailability", "spec.kubernetes.kubeAPIServer.encryptionConfig (other resources or another provider than the status reports)"}},
		"added":     {reason: "only what is new", object: admissiontest.Shoot(less, available), old: admissiontest.Shoot(less), want: notes{"spec.controlPlane.highAvailability"}},
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
