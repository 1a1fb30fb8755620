// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

var (
	errNotYet  = errors.New("not yet")
	errStopped = errors.New("the process stops")
)

func TestUntil(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ask    func(ctx context.Context, n int) error
		want   string
		took   time.Duration
	}{
		"Settled": {
			reason: "the third answer is nil", took: 2 * time.Second,
			ask: func(_ context.Context, n int) error { return map[int]error{1: errNotYet, 2: errNotYet}[n] },
		},
		"Final": {
			reason: "an answer that will not change is returned as it is", want: "not yet",
			ask: func(context.Context, int) error { return flow.Final(errNotYet) },
		},
		"Ended": {
			reason: "the last answer and the cause are returned", want: "not yet (the process stops)", took: 4500 * time.Millisecond,
			ask: func(context.Context, int) error { return errNotYet },
		},
		"CutOff": {
			reason: "the answer of an interrupted attempt does not hide the one before", want: "answer 4 (the process stops)", took: 4500 * time.Millisecond,
			ask: func(ctx context.Context, n int) error {
				if n == 5 {
					<-ctx.Done()
				}
				return fmt.Errorf("answer %d", n)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 4500*time.Millisecond, errStopped)
				defer cancel()
				begin, n := clock.RealClock{}.Now(), 0
				err := flow.Until(ctx, clock.RealClock{}, flow.Every(time.Second), func(ctx context.Context) error {
					n++
					return tc.ask(ctx, n)
				})
				got := ""
				if err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nUntil(...) (-want +got):\n%s", tc.reason, diff)
				}
				if took := (clock.RealClock{}).Since(begin); took != tc.took {
					t.Errorf("%s\ntook %s, want %s", tc.reason, took, tc.took)
				}
			})
		})
	}
}

func TestEndedKeepsAnswerAndCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	err := flow.Until(ctx, clock.RealClock{}, flow.Every(time.Hour), func(context.Context) error { return errNotYet })
	if !errors.Is(err, errNotYet) || !errors.Is(err, errStopped) {
		t.Errorf("Until(...) = %v, want both errors in it", err)
	}
}

func TestInProportion(t *testing.T) {
	t.Parallel()
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	pause := flow.InProportion(clk, 250*time.Millisecond, 5*time.Second)
	var got []time.Duration
	for _, waited := range []time.Duration{0, 2 * time.Second, 3 * time.Second, 17 * time.Second, 20 * time.Second, 3 * time.Minute} {
		clk.SetTime(clk.Now().Add(waited))
		got = append(got, pause())
	}
	want := []time.Duration{250 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 2200 * time.Millisecond, 4200 * time.Millisecond, 5 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if got, want := flow.InProportion(clk, time.Minute, time.Second)(), time.Minute; got != want {
		t.Errorf("a first pause that is longer than the longest is %s, want %s", got, want)
	}
}
