// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

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
		"verbatim": {reason: "a percent sign is no format", message: "100% done", want: "100% done"},
		"cut":      {reason: "a message that the API would refuse is cut between characters", message: strings.Repeat("ä", 600), want: strings.Repeat("ä", 510) + "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := events.NewFakeRecorder(1)
			kit.Record(recorder, &gardencorev1beta1.Shoot{}, kit.Notice{Type: corev1.EventTypeNormal, Reason: "Because", Action: "Reconcile", Message: tc.message})
			got := strings.TrimPrefix(<-recorder.Events, "Normal Because ")
			if got != tc.want {
				t.Errorf("%s\nnote = %q, want %q", tc.reason, got, tc.want)
			}
			if len(got) > 1024 || !utf8.ValidString(got) {
				t.Errorf("%s\nnote has %d bytes, valid UTF-8 %t; want at most 1024 and valid", tc.reason, len(got), utf8.ValidString(got))
			}
		})
	}
}

func TestQueueOptions(t *testing.T) {
	t.Parallel()
	if got := (kit.Queue{}).Options().MaxConcurrentReconciles; got != 5 {
		t.Errorf("default concurrency = %d, want 5", got)
	}
	options := kit.Queue{Concurrency: 2}.Options()
	if options.MaxConcurrentReconciles != 2 || options.SkipNameValidation == nil || !*options.SkipNameValidation {
		t.Errorf("Options() = %+v, want 2 workers and names that may repeat in one process", options)
	}
}
