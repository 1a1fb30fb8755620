// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

var errBoom = errors.New("boom")

// script records in which order tasks start and end.
type script struct {
	mu    sync.Mutex
	lines []string
}

func (s *script) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// takes is a task body that needs a while and then returns err.
func (s *script) takes(id flow.ID, d time.Duration, err error) func(context.Context) error {
	return func(context.Context) error {
		s.add("%s starts", id)
		<-clock.RealClock{}.After(d)
		s.add("%s ends", id)
		return err
	}
}

// compile gives each task without a title its id as one.
func compile(t *testing.T, tasks ...flow.Task) *flow.Graph {
	t.Helper()
	for i := range tasks {
		if tasks[i].Title == "" {
			tasks[i].Title = string(tasks[i].ID)
		}
	}
	g, err := flow.Compile("Shoot cluster reconciliation", tasks...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRunStartsTasksWhenTheirDependenciesAreDone_GLET_FLOW_1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		g := compile(t,
			flow.Task{ID: "a", Do: s.takes("a", 1*time.Second, nil)},
			flow.Task{ID: "b", Do: s.takes("b", 3*time.Second, nil)},
			flow.Task{ID: "c", After: []flow.ID{"a"}, Do: s.takes("c", 1*time.Second, nil)},
			flow.Task{ID: "d", After: []flow.ID{"b", "c"}, Do: s.takes("d", 1*time.Second, nil)},
		)
		begin := clock.RealClock{}.Now()
		if err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}}); err != nil {
			t.Fatalf("Run(...) returned %v", err)
		}
		if took, want := (clock.RealClock{}).Since(begin), 4*time.Second; took != want {
			t.Errorf("a and c run beside b: the run took %s, want %s", took, want)
		}
		// a and b start together, in either order.
		want := []string{"a ends", "c starts", "c ends", "b ends", "d starts", "d ends"}
		if diff := cmp.Diff(want, s.lines[2:]); diff != "" {
			t.Errorf("order of events (-want +got):\n%s", diff)
		}
	})
}

func TestRunKeepsGoingAroundAFailure_GLET_FLOW_2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		g := compile(t,
			flow.Task{ID: "z", Do: s.takes("z", 1*time.Second, fmt.Errorf("deploy etcd: %w", errBoom))},
			flow.Task{ID: "blocked", After: []flow.ID{"z"}, Do: s.takes("blocked", time.Second, nil)},
			flow.Task{ID: "blocked-too", After: []flow.ID{"blocked", "free"}, Do: s.takes("blocked-too", time.Second, nil)},
			flow.Task{ID: "free", Do: s.takes("free", 2*time.Second, nil)},
			flow.Task{ID: "after-free", After: []flow.ID{"free"}, Do: s.takes("after-free", time.Second, errors.New("bad"))},
		)
		err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
		want := `task "after-free" failed: bad; task "z" failed: deploy etcd: boom`
		if err == nil || err.Error() != want {
			t.Errorf("Run(...) = %v, want %s", err, want)
		}
		if !errors.Is(err, errBoom) {
			t.Errorf("the cause of a failed task is lost: errors.Is(%v, errBoom) is false", err)
		}
		var ids []flow.ID
		for _, e := range flow.Errors(fmt.Errorf("reconcile: %w", err)) {
			ids = append(ids, e.ID)
		}
		if diff := cmp.Diff([]flow.ID{"after-free", "z"}, ids); diff != "" {
			t.Errorf("Errors(err) (-want +got):\n%s", diff)
		}
		for _, line := range s.lines {
			if line == "blocked starts" || line == "blocked-too starts" {
				t.Errorf("a dependant of the failed task ran: %v", s.lines)
			}
		}
	})
}

func TestRunCountsSkippedTasksAsDone_GLET_FLOW_3(t *testing.T) {
	t.Parallel()
	ran := map[string]bool{}
	var mu sync.Mutex
	body := func(id string) func(context.Context) error {
		return func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if ran[id] {
				return fmt.Errorf("%s ran twice", id)
			}
			ran[id] = true
			return nil
		}
	}
	g := compile(t,
		flow.Task{ID: "skipped-root", Skip: true, Do: body("skipped-root")},
		flow.Task{ID: "after-skipped", After: []flow.ID{"skipped-root"}, Do: body("after-skipped")},
		flow.Task{ID: "skipped-middle", After: []flow.ID{"after-skipped"}, Skip: true, Do: body("skipped-middle")},
		flow.Task{ID: "last", After: []flow.ID{"skipped-middle"}, Do: body("last")},
	)
	var last flow.Progress
	err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}, Progress: func(p flow.Progress) { last = p }})
	if err != nil {
		t.Fatalf("Run(...) returned %v", err)
	}
	if diff := cmp.Diff(map[string]bool{"after-skipped": true, "last": true}, ran); diff != "" {
		t.Errorf("tasks that ran (-want +got):\n%s", diff)
	}
	want := flow.Progress{
		Flow: "Shoot cluster reconciliation", Total: 2,
		Succeeded: []flow.ID{"after-skipped", "last"},
	}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("last progress (-want +got):\n%s", diff)
	}
}

func TestProgressWords_GLET_FLOW_4(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		in      flow.Progress
		percent int32
		text    string
	}{
		"Start": {
			reason: "nothing is done yet", in: flow.Progress{Flow: "Shoot cluster deletion", Total: 3, Doing: []string{"A runs"}},
			percent: 0, text: "Starting Shoot cluster deletion",
		},
		"Middle": {
			reason:  "two thirds are rounded down, the titles of the running ones are shown",
			in:      flow.Progress{Flow: "Shoot cluster deletion", Total: 3, Succeeded: []flow.ID{"a", "b"}, Doing: []string{"Deploying c", "Waiting for d"}},
			percent: 66, text: "Deploying c, Waiting for d",
		},
		"End": {
			reason: "all are done", in: flow.Progress{Flow: "Shoot cluster deletion", Total: 1, Succeeded: []flow.ID{"a"}},
			percent: 100, text: "Shoot cluster deletion finished",
		},
		"Empty": {
			reason: "without a task there is nothing left to do", in: flow.Progress{Flow: "Shoot cluster deletion"},
			percent: 100, text: "Shoot cluster deletion finished",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.in.Percent(); got != tc.percent {
				t.Errorf("%s\nPercent() = %d, want %d", tc.reason, got, tc.percent)
			}
			if got := tc.in.Description(); got != tc.text {
				t.Errorf("%s\nDescription() = %q, want %q", tc.reason, got, tc.text)
			}
		})
	}
}

func TestProgressNamesRunningTasksSorted_GLET_FLOW_4(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		g := compile(t,
			flow.Task{ID: "first", Do: s.takes("first", time.Second, nil)},
			flow.Task{ID: "zebra", Title: "Feeding the zebra", After: []flow.ID{"first"}, Do: s.takes("zebra", time.Second, nil)},
			flow.Task{ID: "ant", Title: "Watching the ant", After: []flow.ID{"first"}, Do: s.takes("ant", 2*time.Second, nil)},
		)
		var texts []string
		err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}, Progress: func(p flow.Progress) {
			line := fmt.Sprintf("%d %s", p.Percent(), p.Description())
			if len(texts) == 0 || texts[len(texts)-1] != line {
				texts = append(texts, line)
			}
		}})
		if err != nil {
			t.Fatalf("Run(...) returned %v", err)
		}
		want := []string{
			"0 Starting Shoot cluster reconciliation",
			"33 Feeding the zebra, Watching the ant",
			"66 Watching the ant",
			"100 Shoot cluster reconciliation finished",
		}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
	})
}

func TestReportsAreHeldBack_GLET_FLOW_5(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		var tasks []flow.Task
		after := []flow.ID(nil)
		for i := range 10 {
			id := flow.ID(fmt.Sprintf("t%d", i))
			tasks = append(tasks, flow.Task{ID: id, After: after, Do: s.takes(id, time.Second, nil)})
			after = []flow.ID{id}
		}
		begin := clock.RealClock{}.Now()
		var at []string
		err := compile(t, tasks...).Run(t.Context(), flow.Options{
			Clock: clock.RealClock{}, ReportPeriod: 4 * time.Second,
			Progress: func(p flow.Progress) {
				at = append(at, fmt.Sprintf("%s: %d", clock.RealClock{}.Since(begin), p.Percent()))
			},
		})
		if err != nil {
			t.Fatalf("Run(...) returned %v", err)
		}
		// The pause ends in the same instant in which a task ends, so the second and the third report show one task more or less.
		if len(at) != 4 || at[0] != "0s: 0" || at[3] != "10s: 100" {
			t.Errorf("the first and the last report are immediate, one every 4 s between them: got %v", at)
		}
	})
}

func TestPanicBecomesAnError_GLET_FLOW_6(t *testing.T) {
	t.Parallel()
	g := compile(t,
		flow.Task{ID: "bad", Retry: flow.Retry{Interval: 5 * time.Second, Timeout: 30 * time.Second}, Do: func(context.Context) error { panic("nil map") }},
		flow.Task{ID: "good", Do: nothing},
	)
	err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
	if want := `task "bad" failed: panic: nil map`; err == nil || err.Error() != want {
		t.Errorf("Run(...) = %v, want %s", err, want)
	}
	var panicked *flow.PanicError
	if !errors.As(err, &panicked) || len(panicked.Stack) == 0 {
		t.Errorf("the stack of the panic is lost: %v", err)
	}
}

func TestCancellationStartsNothingNew_GLET_FLOW_6(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := false
		g := compile(t,
			flow.Task{ID: "running", Do: func(context.Context) error {
				cancel(errors.New("the gardenlet stops"))
				<-clock.RealClock{}.After(time.Second)
				ended = true
				return nil
			}},
			flow.Task{ID: "never", After: []flow.ID{"running"}, Do: func(context.Context) error { return errors.New("started") }},
		)
		err := g.Run(ctx, flow.Options{Clock: clock.RealClock{}})
		if want := "the run was cancelled: the gardenlet stops"; err == nil || err.Error() != want {
			t.Errorf("Run(...) = %v, want %s", err, want)
		}
		if !ended {
			t.Error("Run returned before the running task did")
		}
	})
}

func TestRetries_GLET_FLOW_7(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		task     flow.Task
		failures int
		err      error
		want     string
		attempts int
		took     time.Duration
	}{
		"Heals": {
			reason: "a task that heals is tried every 5 s", task: flow.Task{Retry: flow.Retry{Interval: 5 * time.Second, Timeout: 30 * time.Second}},
			failures: 3, err: errBoom, attempts: 4, took: 15 * time.Second,
		},
		"GivesUp": {
			reason: "after the limit the last error is shown", task: flow.Task{Retry: flow.Retry{Interval: 4 * time.Second, Timeout: 10 * time.Second}},
			failures: 100, err: errBoom, attempts: 3, took: 10 * time.Second,
			want: `task "t" failed: not done within 10s: boom`,
		},
		"TaskLimit": {
			reason: "the task's own limit covers its retries", task: flow.Task{Timeout: 7 * time.Second, Retry: flow.Retry{Interval: 5 * time.Second, Timeout: 30 * time.Second}},
			failures: 100, err: errBoom, attempts: 2, took: 7 * time.Second,
			want: `task "t" failed: not done within 7s: boom`,
		},
		"DefaultInterval": {
			reason: "a task with a limit is tried every 5 s", task: flow.Task{Retry: flow.Retry{Timeout: time.Minute}},
			failures: 3, err: errBoom, attempts: 4, took: 15 * time.Second,
		},
		"DefaultLimit": {
			reason: "a task with an interval is given up after 30 s", task: flow.Task{Retry: flow.Retry{Interval: 7 * time.Second}},
			failures: 100, err: errBoom, attempts: 5, took: 30 * time.Second,
			want: `task "t" failed: not done within 30s: boom`,
		},
		"Severe": {
			reason: "what cannot heal is not tried again", task: flow.Task{Retry: flow.Retry{Interval: time.Second}},
			failures: 100, err: fmt.Errorf("check: %w", flow.Final(errBoom)), attempts: 1,
			want: `task "t" failed: boom`,
		},
		"Once": {
			reason: "without a retry the first error counts", failures: 1, err: errBoom, attempts: 1,
			want: `task "t" failed: boom`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				tc.task.ID = "t"
				tc.task.Do = func(context.Context) error {
					attempts++
					if attempts <= tc.failures {
						return tc.err
					}
					return nil
				}
				begin := clock.RealClock{}.Now()
				err := compile(t, tc.task).Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
				got := ""
				if err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nRun(...) (-want +got):\n%s", tc.reason, diff)
				}
				if attempts != tc.attempts {
					t.Errorf("%s\n%d attempts, want %d", tc.reason, attempts, tc.attempts)
				}
				if took := (clock.RealClock{}).Since(begin); took != tc.took {
					t.Errorf("%s\ntook %s, want %s", tc.reason, took, tc.took)
				}
			})
		})
	}
}

func TestTimeoutShowsWhatTheTaskSaidLast_GLET_FLOW_7(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := compile(t, flow.Task{ID: "etcd-wait", Timeout: time.Minute, Do: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("0 of 1 pods are ready")
		}})
		err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}})
		want := `task "etcd-wait" failed: not done within 1m0s: 0 of 1 pods are ready`
		if err == nil || err.Error() != want {
			t.Errorf("Run(...) = %v, want %s", err, want)
		}
	})
}

func TestObserveTracesEachTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		begin := clock.RealClock{}.Now()
		var got []string
		g := compile(t,
			flow.Task{ID: "a", Do: s.takes("a", time.Second, nil)},
			flow.Task{ID: "b", After: []flow.ID{"a"}, Do: s.takes("b", 2*time.Second, errBoom)},
		)
		_ = g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}, Observe: func(o flow.Observation) {
			got = append(got, fmt.Sprintf("%s %s-%s %v", o.ID, o.Started.Sub(begin), o.Ended.Sub(begin), o.Err))
		}})
		if diff := cmp.Diff([]string{"a 0s-1s <nil>", "b 1s-3s boom"}, got); diff != "" {
			t.Errorf("observations (-want +got):\n%s", diff)
		}
	})
}

// TestObservationSaysWhatATaskWaitedFor is what the picture of a flow is drawn from.
func TestObservationSaysWhatATaskWaitedFor(t *testing.T) {
	t.Parallel()
	done := func(context.Context) error { return nil }
	value := flow.NewValue[int]("value")
	g := compile(t,
		flow.Task{ID: "c", Sets: []flow.Slot{value}, Do: func(ctx context.Context) error { value.Set(ctx, 1); return nil }},
		flow.Task{ID: "a", Do: done},
		flow.Task{ID: "skipped", After: []flow.ID{"a", "c"}, Skip: true, Do: done},
		flow.Task{ID: "skipped too", After: []flow.ID{"skipped"}, Skip: true, Do: done},
		flow.Task{ID: "d", After: []flow.ID{"skipped too", "a"}, Do: done},
		flow.Task{ID: "e", After: []flow.ID{"d"}, Reads: []flow.Slot{value}, Do: done},
	)
	got := map[flow.ID][]flow.ID{}
	if err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}, Observe: func(o flow.Observation) { got[o.ID] = o.After }}); err != nil {
		t.Fatal(err)
	}
	want := map[flow.ID][]flow.ID{"a": nil, "c": nil, "d": {"a", "c"}, "e": {"c", "d"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what tasks waited for (-want +got):\n%s", diff)
	}
}

func TestGraphRunsAgain(t *testing.T) {
	t.Parallel()
	runs := 0
	g := compile(t, flow.Task{ID: "a", Do: func(context.Context) error { runs++; return nil }})
	for range 2 {
		if err := g.Run(t.Context(), flow.Options{Clock: clock.RealClock{}}); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 2 {
		t.Errorf("a compiled graph holds no state: the task ran %d times, want 2", runs)
	}
}
