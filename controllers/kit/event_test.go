// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		message string
		want    string
	}{
		"verbatim": {reason: "a percent sign is not a format", message: "100% done", want: "100% done"},
		"cut":      {reason: "a message that the API would refuse is cut between characters", message: strings.Repeat("ä", 600), want: strings.Repeat("ä", 510) + "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := events.NewFakeRecorder(1)
			kit.Record(recorder, &gardencorev1beta1.Shoot{}, kit.Notice{Type: corev1.EventTypeNormal, Reason: "Because", Action: "Reconcile", Message: tc.message})
			got := strings.TrimPrefix(<-recorder.Events, "Normal Because ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nnote (-want +got):\n%s", tc.reason, diff)
			}
			if len(got) > 1024 || !utf8.ValidString(got) {
				t.Errorf("%s\nnote has %d bytes, valid UTF-8 %t; want at most 1024 and valid", tc.reason, len(got), utf8.ValidString(got))
			}
		})
	}
}

func TestQueueOptions(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ queue, want kit.Queue }{
		"five workers are the default": {want: kit.Queue{Concurrency: 5}},
		"two workers are configured":   {queue: kit.Queue{Concurrency: 2}, want: kit.Queue{Concurrency: 2}},
	} {
		want := controller.Options{MaxConcurrentReconciles: tc.want.Concurrency, SkipNameValidation: new(true)}
		if diff := cmp.Diff(want, tc.queue.Options(nil), cmpopts.IgnoreFields(controller.Options{}, "RateLimiter", "NewQueue"), cmpopts.EquateComparable(logr.Logger{})); diff != "" {
			t.Errorf("%s, and names may repeat in one process (-want +got):\n%s", reason, diff)
		}
	}
}
