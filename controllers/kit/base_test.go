// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// garden is a manager that hands out what a controller is made of.
type garden struct {
	manager.Manager

	client   client.Client
	reader   client.Reader
	recorder events.EventRecorder
}

func (g garden) GetClient() client.Client { return g.client }

func (g garden) GetAPIReader() client.Reader { return g.reader }

func (g garden) GetEventRecorder(string) events.EventRecorder { return g.recorder }

func TestController(t *testing.T) {
	t.Parallel()
	base := func() kit.Base {
		return kit.Base{
			Client: fake.NewClientBuilder().Build(), Reader: fake.NewClientBuilder().Build(),
			Recorder: events.NewFakeRecorder(1), Clock: clocktesting.NewFakeClock(time.Unix(1, 0)),
		}
	}
	have, given := base(), base()
	mgr := garden{client: have.Client, reader: have.Reader, recorder: have.Recorder}
	cases := map[string]struct {
		reason string
		base   kit.Base
		clock  clock.Clock
		want   kit.Base
	}{
		"unset":    {reason: "what is unset comes from the manager", clock: have.Clock, want: have},
		"set":      {reason: "what a test sets stays", base: given, clock: have.Clock, want: given},
		"no clock": {reason: "time is real unless a clock is given", want: kit.Base{Client: have.Client, Reader: have.Reader, Recorder: have.Recorder, Clock: clock.RealClock{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.base
			got.Controller(kit.Clusters{Garden: mgr, Clock: tc.clock}, "any", kit.Queue{})
			if got != tc.want {
				t.Errorf("%s\nController(...): got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestThreshold(t *testing.T) {
	t.Parallel()
	thresholds := []gardenconfigv1alpha1.ConditionThreshold{{Type: "Ready"}, {Type: "Well"}}
	thresholds[1].Duration.Duration = time.Minute
	got := []time.Duration{kit.Threshold(thresholds, "Well"), kit.Threshold(thresholds, "Ready"), kit.Threshold(thresholds, "Other")}
	if diff := cmp.Diff([]time.Duration{time.Minute, 0, 0}, got); diff != "" {
		t.Errorf("Each condition has the threshold of its type, and none if there is no such entry (-want +got):\n%s", diff)
	}
}
