// SPDX-License-Identifier: Apache-2.0

package hibernation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestRefused has the server refuse the change of a shoot. It is tried again, and only what its owner can mend is told.
func TestRefused_GCM_HIBER_4(t *testing.T) {
	t.Parallel()
	kind, shoots := gardencorev1beta1.GroupVersion.WithKind("Shoot").GroupKind(), gardencorev1beta1.Resource("shoots")
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason  string
		refusal error
		told    bool
	}{
		"forbidden": {"the shoot cannot sleep now", apierrors.NewForbidden(shoots, "a", errBoom), true},
		"invalid":   {"nor with these contents", apierrors.NewInvalid(kind, "a", nil), true},
		"conflict":  {"somebody else was faster", apierrors.NewConflict(shoots, "a", errBoom), false},
		"broken":    {"the server does not answer", errBoom, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(*gardencorev1beta1.Shoot) {})
			b.before = func(client.Client) error { return tc.refusal }
			// A conflict is no failure, and is tried again without a word.
			if err := b.pass(t); err != nil != (name != "conflict") {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			var told []string
			for len(b.recorder.Events) > 0 {
				told = append(told, strings.Join(strings.Fields(<-b.recorder.Events)[:2], " "))
			}
			var want []string
			if tc.told {
				want = []string{"Warning HibernationFailed"}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
			if noted := b.shoot(t).Status.LastHibernationTriggerTime; noted != nil {
				t.Errorf("%s\nnoted %v, but nothing was carried out", tc.reason, noted)
			}
		})
	}
}

// TestSleepsAlready_GCM_HIBER_4 has a shoot that is as the schedule wants it. It is not written: each write starts work of its gardenlet.
func TestSleepsAlready_GCM_HIBER_4(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]string{"never marked": "", "marked yesterday": "2026-03-08T20:00:01Z"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation.Enabled, s.Status.LastHibernationTriggerTime = new(true), new(metav1.NewTime(at(8, 20, 0, 1)))
				if mark != "" {
					metav1.SetMetaDataAnnotation(&s.ObjectMeta, "shoot.gardener.cloud/hibernation-trigger-timestamp", mark)
				}
			})
			if err := b.pass(t); err != nil {
				t.Fatal(err)
			}
			if b.changes > 0 {
				t.Errorf("%d changes of the shoot, want none", b.changes)
			}
			if noted := b.shoot(t).Status.LastHibernationTriggerTime; !noted.Time.Equal(at(9, 20, 1, 0)) {
				t.Errorf("noted %v, want the time of the pass", noted)
			}
		})
	}
}
