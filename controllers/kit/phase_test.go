// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errBoom = errors.New("boom")

func TestRun(t *testing.T) {
	t.Parallel()
	type scope struct{ ran []string }
	phase := func(name string, outcome kit.Outcome, err error) kit.Phase[*scope] {
		return func(_ context.Context, s *scope) (kit.Outcome, error) {
			s.ran = append(s.ran, name)
			return outcome, err
		}
	}
	cases := map[string]struct {
		reason  string
		phases  []kit.Phase[*scope]
		ran     []string
		stopped bool
		after   time.Duration
		err     error
	}{
		"all": {
			reason: "phases that continue run in their order",
			phases: []kit.Phase[*scope]{phase("a", kit.Continue(), nil), phase("b", kit.Continue(), nil)},
			ran:    []string{"a", "b"},
		},
		"stop": {
			reason:  "a phase that stops skips the rest",
			phases:  []kit.Phase[*scope]{phase("a", kit.Stop(), nil), phase("b", kit.Continue(), nil)},
			ran:     []string{"a"},
			stopped: true,
		},
		"fail": {
			reason: "a phase that fails skips the rest, and a delay asked for before is kept for the caller",
			phases: []kit.Phase[*scope]{phase("a", kit.RecheckAfter(time.Second), nil), phase("b", kit.Continue(), errBoom), phase("c", kit.Continue(), nil)},
			ran:    []string{"a", "b"},
			after:  time.Second,
			err:    errBoom,
		},
		"shortest delay": {
			reason:  "the shortest delay wins, no delay does not count",
			phases:  []kit.Phase[*scope]{phase("a", kit.RecheckAfter(time.Minute), nil), phase("b", kit.Continue(), nil), phase("c", kit.RequeueAfter(time.Second), nil)},
			ran:     []string{"a", "b", "c"},
			stopped: true,
			after:   time.Second,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scope{}
			outcome, err := kit.Run(t.Context(), s, tc.phases...)
			if diff := cmp.Diff(tc.ran, s.ran); diff != "" {
				t.Errorf("%s\nphases run (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nRun error (-want +got):\n%s", tc.reason, diff)
			}
			if outcome.Stopped() != tc.stopped || outcome.After() != tc.after {
				t.Errorf("%s\nRun outcome = stopped %t after %s, want stopped %t after %s", tc.reason, outcome.Stopped(), outcome.After(), tc.stopped, tc.after)
			}
		})
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "shoots"}, "a", errBoom)
	cases := map[string]struct {
		reason string
		err    error
		want   reconcile.Result
		fails  bool
		final  bool
	}{
		"success":   {reason: "the delay of the outcome is kept", want: reconcile.Result{RequeueAfter: time.Minute}},
		"wait":      {reason: "waiting is no error", err: fmt.Errorf("apply: %w", kit.Wait(time.Second, "pod not ready")), want: reconcile.Result{RequeueAfter: time.Second}},
		"user":      {reason: "what the user must fix is not retried", err: fmt.Errorf("apply: %w", kit.UserMustFix("QuotaExceeded", errBoom)), fails: true, final: true},
		"lost race": {reason: "a conflict comes back quickly and quietly", err: fmt.Errorf("write: %w", conflict), want: reconcile.Result{RequeueAfter: 100 * time.Millisecond}},
		"failure":   {reason: "everything else is retried with backoff", err: errBoom, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := kit.Result(kit.RequeueAfter(time.Minute), tc.err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nResult (-want +got):\n%s", tc.reason, diff)
			}
			if (err != nil) != tc.fails {
				t.Errorf("%s\nResult error = %v, want failure %t", tc.reason, err, tc.fails)
			}
			if tc.fails && !errors.Is(err, errBoom) {
				t.Errorf("%s\nResult error = %v, does not wrap the cause", tc.reason, err)
			}
			if errors.Is(err, reconcile.TerminalError(nil)) != tc.final {
				t.Errorf("%s\nResult error = %v, want final %t", tc.reason, err, tc.final)
			}
		})
	}
}

func TestErrorReasons(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("plan: %w", kit.UserMustFix("QuotaExceeded", errBoom))
	if reason, ok := kit.UserReason(wrapped); !ok || reason != "QuotaExceeded" {
		t.Errorf("UserReason(%v) = %q, %t; want the reason through the wrap", wrapped, reason, ok)
	}
	if err := kit.UserMustFix("QuotaExceeded", nil); err != nil {
		t.Errorf("UserMustFix(_, nil) = %v, want nil: no error is nothing to fix", err)
	}
	waiting := fmt.Errorf("plan: %w", kit.Wait(time.Second, "pod not ready"))
	if reason, ok := kit.WaitReason(waiting); !ok || reason != "pod not ready" {
		t.Errorf("WaitReason(%v) = %q, %t; want the reason through the wrap", waiting, reason, ok)
	}
	if _, ok := kit.WaitReason(errBoom); ok {
		t.Error("WaitReason of another error must say no")
	}
}
