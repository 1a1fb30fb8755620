// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

var errBoom = errors.New("boom")

type (
	shootRun   = operation.Operation[*gardencorev1beta1.Shoot]
	shootStart = operation.Start[*gardencorev1beta1.Shoot]
)

// diary is a journal that keeps its entries.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) Transition(subject operation.Subject, t operation.Transition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := "nothing"
	if t.From != nil {
		from = string(t.From.State)
	}
	d.entries = append(d.entries, subject.Kind+" "+subject.Name+": "+from+" > "+string(t.To.State)+strings.Repeat("!", len(t.Errors)))
}

func (d *diary) Task(subject operation.Subject, task flow.Observation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, subject.Kind+" "+subject.Name+": task "+string(task.ID))
}

// ground holds one object and all reports about it.
type ground[T client.Object] struct {
	operation.Machine[T]

	key    client.ObjectKey
	empty  T
	clock  *clocktesting.FakeClock
	events *events.FakeRecorder
	diary  *diary
	// writes counts patches of the status, refuse lets the next ones fail, meddle comes before the next one.
	writes int
	refuse []error
	meddle func(c client.Client)
}

func newGround[T client.Object](t *testing.T, kind operation.Kind[T], object T) *ground[T] {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &ground[T]{
		key: client.ObjectKeyFromObject(object), empty: object.DeepCopyObject().(T), //nolint:forcetypeassert // a copy
		clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), events: events.NewFakeRecorder(100), diary: &diary{},
	}
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(object).WithStatusSubresource(object).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if meddle := g.meddle; meddle != nil {
				g.meddle = nil
				meddle(c)
			}
			if len(g.refuse) > 0 {
				err := g.refuse[0]
				g.refuse = g.refuse[1:]
				return err
			}
			g.writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	g.Machine = operation.Machine[T]{Kind: kind, Client: c, Reader: c, Recorder: g.events, Clock: g.clock, Patience: time.Hour, Journal: g.diary}
	return g
}

// live is the object as it is stored.
func (g *ground[T]) live(t *testing.T) T {
	t.Helper()
	object := g.empty.DeepCopyObject().(T) //nolint:forcetypeassert // a copy
	if err := g.Client.Get(t.Context(), g.key, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// pass begins a pass with the stored object.
func (g *ground[T]) pass(t *testing.T) *operation.Operation[T] {
	t.Helper()
	return g.On(g.live(t))
}

// reasons are the reasons of the events since the last call.
func (g *ground[T]) reasons() []string {
	var all []string
	for len(g.events.Events) > 0 {
		all = append(all, strings.Join(strings.Fields(<-g.events.Events)[:2], " "))
	}
	return all
}

func (g *ground[T]) last(t *testing.T) gardencorev1beta1.LastOperation {
	t.Helper()
	last := *(*g.Kind.Fields(g.live(t)).LastOperation)
	last.LastUpdateTime = metav1.NewTime(last.LastUpdateTime.UTC())
	return last
}

func shoot() *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "rose", Generation: 3}}
}

func onShoot(t *testing.T) *ground[*gardencorev1beta1.Shoot] {
	t.Helper()
	return newGround(t, operation.Shoots(), shoot())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// failing is the error of a flow in which that task has failed.
func failing(t *testing.T, err error) error {
	t.Helper()
	graph, compileErr := flow.Compile("flow", flow.Task{ID: "water", Title: "Working", Do: func(context.Context) error { return err }})
	must(t, compileErr)
	return graph.Run(t.Context(), flow.Options{Clock: clocktesting.NewFakeClock(time.Unix(0, 0))})
}

func TestOneOperation(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create", Change: func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--rose" }}))
	g.clock.Step(time.Second)
	must(t, run.Progress(t.Context(), flow.Progress{Flow: "f", Total: 4, Succeeded: []flow.ID{"a"}, Doing: []string{"b", "c"}}))
	want := gardencorev1beta1.LastOperation{Type: "Create", State: "Processing", Progress: 25, Description: "b, c", LastUpdateTime: metav1.NewTime(time.Unix(1001, 0).UTC())}
	if diff := cmp.Diff(want, g.last(t)); diff != "" {
		t.Errorf("under way (-want +got):\n%s", diff)
	}
	must(t, run.Progress(t.Context(), flow.Progress{Flow: "f", Total: 4, Succeeded: []flow.ID{"a", "b", "c", "d"}}))
	if got := g.last(t).Progress; got != 25 {
		t.Errorf("The end of the last task is not the end of the operation: progress = %d, want 25", got)
	}
	g.clock.Step(time.Second)
	must(t, run.Succeed(t.Context()))
	want = gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, Description: "The shoot cluster has been created", LastUpdateTime: metav1.NewTime(time.Unix(1002, 0).UTC())}
	if diff := cmp.Diff(want, g.last(t)); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
	if s := g.live(t); s.Status.RetryCycleStartTime != nil || s.Status.TechnicalID != "shoot--dev--rose" {
		t.Errorf("status = %+v, want no retry cycle and the change of the beginning", s.Status)
	}
	if diff := cmp.Diff([]string{"Normal Reconciling", "Normal Reconciled"}, g.reasons()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Shoot rose: nothing > Processing", "Shoot rose: Processing > Succeeded"}, g.diary.entries); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestSayingTheSameAgainWritesNothing(t *testing.T) {
	t.Parallel()
	coded := operation.WithCodes(errBoom, gardencorev1beta1.ErrorCodeConfigurationProblem)
	cases := map[string]struct {
		reason string
		say    func(ctx context.Context, run *shootRun) error
		events []string
	}{
		"Pend":     {reason: "a shoot that is ignored", say: func(ctx context.Context, run *shootRun) error { return run.Pend(ctx, "Create", "it is ignored") }},
		"Postpone": {reason: "a seed that is not ready", say: func(ctx context.Context, run *shootRun) error { return run.Postpone(ctx, "Create", errBoom) }},
		"Refuse": {reason: "a wish that is not served", say: func(ctx context.Context, run *shootRun) error {
			return run.Refuse(ctx, shootStart{Type: "Create"}, coded)
		}, events: []string{"Warning ReconcileError"}},
		"Succeed": {reason: "a pass that had nothing to do", say: func(ctx context.Context, run *shootRun) error { return run.Succeed(ctx) }, events: []string{"Normal Reconciled"}},
		"Wait": {reason: "a wait that continues", say: func(ctx context.Context, run *shootRun) error {
			return errors.Join(run.Begin(ctx, shootStart{Type: "Create"}), run.Wait(ctx, "waiting for rain"))
		}, events: []string{"Normal Reconciling"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := onShoot(t)
			must(t, tc.say(t.Context(), g.pass(t)))
			first, writes, entries := g.live(t), g.writes, len(g.diary.entries)
			if writes == 0 {
				t.Fatalf("%s\nnothing was written", tc.reason)
			}
			g.clock.Step(time.Minute)
			must(t, tc.say(t.Context(), g.pass(t)))
			if diff := cmp.Diff(first, g.live(t)); diff != "" || g.writes != writes {
				t.Errorf("%s\nsaid again it made %d writes (-first +second):\n%s", tc.reason, g.writes-writes, diff)
			}
			if diff := cmp.Diff(tc.events, g.reasons()); diff != "" || len(g.diary.entries) != entries {
				t.Errorf("%s\nit was told again in the journal, %v, or in events (-want +got):\n%s", tc.reason, g.diary.entries, diff)
			}
		})
	}
}

func TestWaitGoesOn(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	if got := run.Waited("rain is missing"); got != 0 {
		t.Errorf("Waited(...) = %s before the wait", got)
	}
	result, err := run.Fail(t.Context(), kit.Wait(15*time.Second, "rain is missing"))
	if diff := cmp.Diff(reconcile.Result{RequeueAfter: 15 * time.Second}, result); err != nil || diff != "" {
		t.Errorf("Fail(wait) = %v (-want +got):\n%s", err, diff)
	}
	g.clock.Step(40 * time.Second)
	run = g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	if got := run.Waited("rain is missing"); got != 40*time.Second {
		t.Errorf("Waited(...) = %s, want 40s", got)
	}
	if got := run.Waited("sun is missing"); got != 0 {
		t.Errorf("Waited(another reason) = %s, want 0", got)
	}
	if last := g.last(t); last.State != "Processing" || last.Description != "Rain is missing" {
		t.Errorf("lastOperation = %+v", last)
	}
	must(t, run.Begin(t.Context(), shootStart{Type: "Create", Anew: true}))
	if got := g.last(t).Description; got != "Creation of the shoot cluster has begun" {
		t.Errorf("Something else is to be done, so the wait is over: description = %q", got)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "shoots"}, "rose", errBoom)
	cases := map[string]struct {
		reason string
		err    error
		after  time.Duration
		state  gardencorev1beta1.LastOperationState
		text   string
		tasks  []string
		final  bool
		result reconcile.Result
		events []string
	}{
		"Plain":    {reason: "it is tried again", err: errBoom, state: "Error", text: "Boom; the operation will be retried", tasks: []string{""}, events: []string{"Warning ReconcileError"}},
		"Step":     {reason: "a step has an id", err: operation.AtStep("dig", errBoom), state: "Error", text: "Boom; the operation will be retried", tasks: []string{"dig"}, events: []string{"Warning ReconcileError"}},
		"Task":     {reason: "so has a task", err: failing(t, errBoom), state: "Error", text: `Task "water" failed: boom; the operation will be retried`, tasks: []string{"water"}, events: []string{"Warning ReconcileError"}},
		"Expired":  {reason: "the retry cycle is over", err: errBoom, after: time.Hour, state: "Failed", text: "Boom", tasks: []string{""}, final: true, events: []string{"Warning ReconcileError"}},
		"Final":    {reason: "only the owner can act", err: operation.WithCodes(errBoom, "ERR_INFRA_QUOTA_EXCEEDED"), state: "Failed", text: "Boom", tasks: []string{""}, final: true, events: []string{"Warning ReconcileError"}},
		"Code":     {reason: "this code may pass by itself", err: operation.WithCodes(errBoom, "ERR_CLEANUP_CLUSTER_RESOURCES"), state: "Error", text: "Boom; the operation will be retried", tasks: []string{""}, events: []string{"Warning ReconcileError"}},
		"User":     {reason: "retries would not help", err: kit.UserMustFix("Bad", errBoom), state: "Error", text: "Boom; the operation will be retried", tasks: []string{""}, final: true, events: []string{"Warning ReconcileError"}},
		"LostRace": {reason: "a conflict is not reported", err: conflict, state: "Processing", text: "Creation of the shoot cluster has begun", result: reconcile.Result{RequeueAfter: 100 * time.Millisecond}},
		"LostTask": {reason: "a task has its own retries", err: failing(t, conflict), state: "Error", text: `Task "water" failed: Operation cannot be fulfilled on shoots "rose": boom; the operation will be retried`, tasks: []string{"water"}, events: []string{"Warning ReconcileError"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := onShoot(t)
			run := g.pass(t)
			must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
			g.reasons()
			g.clock.Step(tc.after)
			result, err := run.Fail(t.Context(), tc.err)
			if diff := cmp.Diff(tc.result, result); diff != "" {
				t.Errorf("%s\nresult (-want +got):\n%s", tc.reason, diff)
			}
			if tc.result.IsZero() && (!errors.Is(err, tc.err) || errors.Is(err, reconcile.TerminalError(nil)) != tc.final) {
				t.Errorf("%s\nerror = %v, want %v, final: %t", tc.reason, err, tc.err, tc.final)
			}
			s := g.live(t)
			if last := s.Status.LastOperation; last.State != tc.state || last.Description != tc.text {
				t.Errorf("%s\nlastOperation = %+v, want %s: %s", tc.reason, last, tc.state, tc.text)
			}
			var tasks []string
			for _, e := range s.Status.LastErrors {
				id := ""
				if e.TaskID != nil {
					id = *e.TaskID
				}
				tasks = append(tasks, id)
			}
			if diff := cmp.Diff(tc.tasks, tasks); diff != "" {
				t.Errorf("%s\nids in lastErrors (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.events, g.reasons()); diff != "" {
				t.Errorf("%s\nevents (-want +got):\n%s", tc.reason, diff)
			}
			if (s.Status.RetryCycleStartTime == nil) != (tc.state == "Failed") {
				t.Errorf("%s\nretryCycleStartTime = %v in state %s", tc.reason, s.Status.RetryCycleStartTime, tc.state)
			}
		})
	}
}

// TestPostponed sees that the time for which an operation could not begin is no time for which it was tried.
func TestPostponed_GLET_SHOOT_8(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	try := func() gardencorev1beta1.LastOperationState {
		t.Helper()
		run := g.pass(t)
		must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
		_, _ = run.Fail(t.Context(), errBoom)
		return g.live(t).Status.LastOperation.State
	}
	if got := try(); got != "Error" {
		t.Fatalf("the first try ends in state %s", got)
	}
	for range 3 {
		must(t, g.pass(t).Postpone(t.Context(), "Create", errors.New("the seed is not healthy")))
		g.clock.Step(24 * time.Hour)
	}
	if got := try(); got != "Error" {
		t.Errorf("the first try after an outage ends in state %s, want Error", got)
	}
	g.clock.Step(24 * time.Hour)
	if got := try(); got != "Failed" {
		t.Errorf("a day of trying after the outage ends in state %s, want Failed", got)
	}
}

func TestRetryCycle(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	for range 3 {
		run := g.pass(t)
		must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
		if got := g.live(t).Status.RetryCycleStartTime; got == nil || !got.Time.Equal(time.Unix(1000, 0)) {
			t.Errorf("retryCycleStartTime = %v, want the first try", got)
		}
		_, _ = run.Fail(t.Context(), errBoom)
		g.clock.Step(10 * time.Minute)
	}
	for name, start := range map[string]shootStart{"anew": {Type: "Create", Anew: true}, "deletion": {Type: "Delete"}} {
		g.clock.Step(time.Minute)
		must(t, g.pass(t).Begin(t.Context(), start))
		if got := g.live(t).Status.RetryCycleStartTime; !got.Time.Equal(g.clock.Now()) {
			t.Errorf("%s: retryCycleStartTime = %v, want %v", name, got, g.clock.Now())
		}
	}
}

func TestCutOffIsAborted(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	if _, err := run.Fail(ctx, errors.New("context canceled somewhere")); !errors.Is(err, errBoom) {
		t.Errorf("Fail(...) = %v, want the cause of the end", err)
	}
	if s := g.live(t); s.Status.LastOperation.State != "Aborted" || s.Status.LastErrors != nil {
		t.Errorf("status = %+v, want Aborted without errors", s.Status)
	}
	must(t, g.pass(t).Begin(t.Context(), shootStart{Type: "Create"}))
	must(t, g.pass(t).Succeed(t.Context()))
	if err := g.pass(t).Abort(ctx); !errors.Is(err, errBoom) || g.last(t).State != "Succeeded" {
		t.Errorf("An operation that has ended is not aborted: %+v, %v", g.last(t), err)
	}
}

// TestInterruptedIsAborted_GLET_FORCE_1: a run that somebody has ended for another one says so, and the errors of before stay.
func TestInterruptedIsAborted_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	_, _ = run.Fail(t.Context(), operation.WithCodes(failing(t, errBoom), gardencorev1beta1.ErrorCodeInfraDependencies))
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := &operation.InterruptedError{Reason: "somebody wants something else"}
	cancel(why)
	if _, err := run.Fail(ctx, errors.New("context canceled somewhere")); !errors.Is(err, why) {
		t.Errorf("Fail(...) = %v, want the cause of the end", err)
	}
	const told = "Somebody wants something else"
	s := g.live(t)
	if last := s.Status.LastOperation; last.State != "Aborted" || last.Description != told {
		t.Errorf("lastOperation = %+v, want Aborted: %s", last, told)
	}
	if all := s.Status.LastErrors; len(all) != 2 || *all[0].TaskID != "water" || all[1].Description != told || all[1].TaskID != nil {
		t.Errorf("lastErrors = %+v, want that of before and the reason", all)
	}
}

func TestPlanIsWrittenWithTheFirstWord(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	run.Plan(shootStart{Type: "Create", Change: func(s *gardencorev1beta1.Shoot) { s.Status.UID = "uid-1" }})
	if run.Object().Status.LastOperation.State != "Processing" || g.writes != 0 {
		t.Errorf("A plan is known and not written: %+v, %d writes", run.Object().Status, g.writes)
	}
	_, _ = run.Fail(t.Context(), operation.AtStep(operation.StepInitialize, errBoom))
	if s := g.live(t); g.writes != 1 || s.Status.UID != "uid-1" || s.Status.LastOperation.State != "Error" || s.Status.RetryCycleStartTime == nil {
		t.Errorf("after %d writes the status is %+v", g.writes, s.Status)
	}
	run = g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	if got := g.live(t).Status.LastErrors; len(got) != 0 {
		t.Errorf("lastErrors = %v: the next run has got as far as to begin", got)
	}
}

// TestWaitShowsItsCause: what an operation waits for stays the same while its cause changes, so that the wait can end.
func TestWaitShowsItsCause(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	_, _ = run.Fail(t.Context(), failing(t, errBoom))
	const reason = "waiting for rain"
	for _, cause := range []string{"boom", "boom", "bang"} {
		run = g.pass(t)
		run.Plan(shootStart{Type: "Create"})
		err := operation.AtStep(operation.StepInitialize, errors.New(cause))
		for range 2 {
			result, err := run.Fail(t.Context(), fmt.Errorf("%w: %w", kit.Wait(time.Second, reason), err))
			if err != nil || result.RequeueAfter != time.Second {
				t.Fatalf("Fail(...) = %v, %v, want another pass after a second", result, err)
			}
		}
		var got []string
		for _, e := range g.live(t).Status.LastErrors {
			got = append(got, *e.TaskID+": "+e.Description)
		}
		if diff := cmp.Diff([]string{`water: task "water" failed: boom`, "initializeOperation: " + cause}, got); diff != "" {
			t.Errorf("lastErrors (-want +got):\n%s", diff)
		}
		g.clock.Step(time.Second)
	}
	if last := g.last(t); last.State != "Processing" || last.Description != "Waiting for rain" {
		t.Errorf("lastOperation = %+v, want that it waits", last)
	}
	if waited := g.pass(t).Waited(reason); waited != 3*time.Second {
		t.Errorf("Waited(...) = %s, want 3s", waited)
	}
	must(t, g.pass(t).Begin(t.Context(), shootStart{Type: "Create"}))
	if got := g.live(t).Status.LastErrors; len(got) != 1 || *got[0].TaskID != "water" {
		t.Errorf("lastErrors = %v, want that of the task only: the step is done", got)
	}
}

func TestProgressDropsErrors(t *testing.T) {
	t.Parallel()
	g := onShoot(t)
	run := g.pass(t)
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	_, _ = run.Fail(t.Context(), failing(t, errBoom))
	must(t, run.Begin(t.Context(), shootStart{Type: "Create"}))
	if got := len(g.live(t).Status.LastErrors); got != 1 {
		t.Errorf("%d errors at the beginning, want that of the last run", got)
	}
	must(t, run.Progress(t.Context(), flow.Progress{Total: 2, Succeeded: []flow.ID{"water"}}))
	if got := g.live(t).Status.LastErrors; len(got) != 0 {
		t.Errorf("lastErrors = %v, although the task has succeeded", got)
	}
}
