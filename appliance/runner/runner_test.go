// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/runner"
)

var errBoom = errors.New("boom")

// journal keeps what the units did, in order, and has what they may wait for.
type journal struct {
	clk     *clocktesting.FakeClock
	release chan struct{} // closed when the test ends

	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// server is a unit that is ready at once and runs until it is stopped.
func (j *journal) server(name string) runner.Unit {
	return runner.Unit{Name: name, Run: func(ctx context.Context, ready func()) error {
		j.add("start " + name)
		ready()
		<-ctx.Done()
		j.add("stop " + name)
		return ctx.Err()
	}}
}

func TestRun(t *testing.T) {
	t.Parallel()

	// act is what happens from outside once everything has come to rest.
	type act func(cancel context.CancelFunc, clk *clocktesting.FakeClock)
	interrupt := func(cancel context.CancelFunc, _ *clocktesting.FakeClock) { cancel() }
	untouched := func(context.CancelFunc, *clocktesting.FakeClock) {}

	type want struct {
		journal []string
		is      error
		text    []string
	}

	cases := map[string]struct {
		reason string
		units  func(j *journal) []runner.Unit
		act    act
		want   want
	}{
		"StopInReverse": {
			reason: "Units stop in the reverse of the order they started in, and a stop that was asked for is no error.",
			units: func(j *journal) []runner.Unit {
				return []runner.Unit{j.server("a"), j.server("b"), j.server("c")}
			},
			act:  interrupt,
			want: want{journal: []string{"start a", "start b", "start c", "stop c", "stop b", "stop a"}},
		},
		"NextWaitsForReady": {
			reason: "A unit must not start before the one in front of it is ready.",
			units: func(j *journal) []runner.Unit {
				slow := runner.Unit{Name: "slow", Run: func(ctx context.Context, _ func()) error {
					j.add("start slow")
					<-ctx.Done()
					return nil
				}}
				return []runner.Unit{slow, j.server("b")}
			},
			act:  interrupt,
			want: want{journal: []string{"start slow"}},
		},
		"FirstFailureStopsAll": {
			reason: "One failing unit takes the others with it, and its error carries its name.",
			units: func(j *journal) []runner.Unit {
				fails := runner.Unit{Name: "fails", Run: func(_ context.Context, ready func()) error {
					ready()
					return errBoom
				}}
				return []runner.Unit{j.server("a"), fails}
			},
			act:  untouched,
			want: want{journal: []string{"start a", "stop a"}, is: errBoom, text: []string{`unit "fails": boom`}},
		},
		"FailureWhileStarting": {
			reason: "A failure during the start stops what runs already and starts nothing more.",
			units: func(j *journal) []runner.Unit {
				fails := runner.Unit{Name: "fails", Run: func(context.Context, func()) error { return errBoom }}
				return []runner.Unit{j.server("a"), fails, j.server("c")}
			},
			act:  untouched,
			want: want{journal: []string{"start a", "stop a"}, is: errBoom, text: []string{`unit "fails": boom`}},
		},
		"EarlierUnitFailsWhileLaterStarts": {
			reason: "While one unit gets ready, the failure of an earlier one must not go unnoticed.",
			units: func(j *journal) []runner.Unit {
				release := make(chan struct{})
				first := runner.Unit{Name: "first", Run: func(_ context.Context, ready func()) error {
					ready()
					<-release
					return errBoom
				}}
				second := runner.Unit{Name: "second", Run: func(ctx context.Context, _ func()) error {
					close(release)
					<-ctx.Done()
					j.add("stop second")
					return nil
				}}
				return []runner.Unit{first, second}
			},
			act:  untouched,
			want: want{journal: []string{"stop second"}, is: errBoom, text: []string{`unit "first": boom`}},
		},
		"NeverReady": {
			reason: "Nobody could rely on a unit that has gone before it was ready.",
			units: func(j *journal) []runner.Unit {
				quits := runner.Unit{Name: "quits", Run: func(context.Context, func()) error { return nil }}
				return []runner.Unit{quits, j.server("b")}
			},
			act:  untouched,
			want: want{is: runner.ErrNotReady, text: []string{`unit "quits": ended before it was ready`}},
		},
		"FinishedUnitLetsOthersRun": {
			reason: "A unit with a piece of work that ends may return after ready.",
			units: func(j *journal) []runner.Unit {
				once := runner.Unit{Name: "once", Run: func(_ context.Context, ready func()) error {
					j.add("once")
					ready()
					return nil
				}}
				return []runner.Unit{j.server("a"), once, j.server("c")}
			},
			act:  interrupt,
			want: want{journal: []string{"start a", "once", "start c", "stop c", "stop a"}},
		},
		"AllFinished": {
			reason: "With nothing left to run, Run returns without being asked.",
			units: func(*journal) []runner.Unit {
				once := func(_ context.Context, ready func()) error { ready(); return nil }
				return []runner.Unit{{Name: "a", Run: once}, {Name: "b", Run: once}}
			},
			act: untouched,
		},
		"Panic": {
			reason: "A panic in one unit must not keep the others from stopping in order.",
			units: func(j *journal) []runner.Unit {
				panics := runner.Unit{Name: "panics", Run: func(context.Context, func()) error { panic(errBoom) }}
				return []runner.Unit{j.server("a"), panics}
			},
			act: untouched,
			want: want{
				journal: []string{"start a", "stop a"}, is: errBoom,
				text: []string{`unit "panics": panic: boom`, "runner_test.go"},
			},
		},
		"Goexit": {
			reason: "A goroutine that ends from within must not leave Run waiting for ever.",
			units: func(*journal) []runner.Unit {
				return []runner.Unit{{Name: "exits", Run: func(_ context.Context, ready func()) error {
					ready()
					runtime.Goexit()
					return nil
				}}}
			},
			act:  untouched,
			want: want{text: []string{`unit "exits": goroutine was ended from within`}, is: cmpopts.AnyError},
		},
		"ErrorWhileStopping": {
			reason: "What goes wrong during the stop is reported, and the rest still stops.",
			units: func(j *journal) []runner.Unit {
				bad := runner.Unit{Name: "bad", Run: func(ctx context.Context, ready func()) error {
					ready()
					<-ctx.Done()
					return errBoom
				}}
				return []runner.Unit{j.server("a"), bad}
			},
			act:  interrupt,
			want: want{journal: []string{"start a", "stop a"}, is: errBoom, text: []string{`unit "bad": boom`}},
		},
		"GraceEnds": {
			reason: "A unit that does not stop is named, and the ones before it are told to stop all the same.",
			units: func(j *journal) []runner.Unit {
				stuck := runner.Unit{Name: "stuck", Run: func(ctx context.Context, ready func()) error {
					ready()
					<-ctx.Done()
					j.add("stuck")
					<-j.release
					return nil
				}}
				return []runner.Unit{j.server("a"), stuck}
			},
			act: func(cancel context.CancelFunc, clk *clocktesting.FakeClock) {
				cancel()
				synctest.Wait()
				clk.Step(10 * time.Second)
				synctest.Wait()
			},
			want: want{
				journal: []string{"start a", "stuck", "stop a"},
				is:      cmpopts.AnyError, text: []string{"still running 10s after the stop began", `"stuck"`},
			},
		},
		"WithinGrace": {
			reason: "A unit that needs time, but less than the grace period, stops cleanly.",
			units: func(j *journal) []runner.Unit {
				slow := runner.Unit{Name: "slow", Run: func(ctx context.Context, ready func()) error {
					ready()
					<-ctx.Done()
					<-j.clk.After(9 * time.Second)
					j.add("stop slow")
					return nil
				}}
				return []runner.Unit{j.server("a"), slow}
			},
			act: func(cancel context.CancelFunc, clk *clocktesting.FakeClock) {
				cancel()
				synctest.Wait()
				clk.Step(9 * time.Second)
			},
			want: want{journal: []string{"start a", "stop slow", "stop a"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clk := clocktesting.NewFakeClock(time.Now())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				j := &journal{clk: clk, release: make(chan struct{})}
				defer close(j.release)

				result := make(chan error, 1)
				go func() {
					result <- runner.Run(ctx, runner.Options{Grace: 10 * time.Second, Clock: clk}, tc.units(j)...)
				}()
				synctest.Wait()
				tc.act(cancel, clk)
				err := <-result

				if diff := cmp.Diff(tc.want.is, err, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("%s\nRun(...) error (-want +got):\n%s", tc.reason, diff)
				}
				for _, text := range tc.want.text {
					if err == nil || strings.Count(err.Error(), text) != 1 {
						t.Errorf("%s\nRun(...) = %v, want it to contain %q once", tc.reason, err, text)
					}
				}
				synctest.Wait()
				if diff := cmp.Diff(tc.want.journal, j.all()); diff != "" {
					t.Errorf("%s\nRun(...) journal (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func TestRunContextOfUnits(t *testing.T) {
	t.Parallel()

	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	var (
		value      any
		firstEnded <-chan struct{}
		firstLives bool
	)
	err := runner.Run(
		ctx, runner.Options{},
		runner.Unit{Name: "first", Run: func(ctx context.Context, ready func()) error {
			value = ctx.Value(key{})
			firstEnded = ctx.Done()
			ready()
			<-ctx.Done()
			return nil
		}},
		runner.Unit{Name: "second", Run: func(ctx context.Context, ready func()) error {
			ready()
			ready()
			cancel()
			<-ctx.Done()
			select {
			case <-firstEnded:
			default:
				firstLives = true
			}
			return nil
		}},
	)
	if err != nil {
		t.Errorf("An interrupt is no error.\nRun(...) = %v, want nil", err)
	}
	if value != "value" {
		t.Errorf("Units see the values of the caller's context.\nctx.Value(key) = %v, want %q", value, "value")
	}
	if !firstLives {
		t.Error("A unit may rely on the ones before it until it has returned, but the first one's context ended too early")
	}
}

func TestRunRefusesUnits(t *testing.T) {
	t.Parallel()

	fine := func(context.Context, func()) error { return nil }
	cases := map[string]struct {
		reason string
		units  []runner.Unit
		want   string
	}{
		"NoName": {
			reason: "A failure of a unit without a name could not be told.",
			units:  []runner.Unit{{Run: fine}},
			want:   "unit 0 has no name",
		},
		"NoRun": {
			reason: "A unit without work is a mistake in the wiring.",
			units:  []runner.Unit{{Name: "a"}},
			want:   `unit "a" has no Run function`,
		},
		"Twice": {
			reason: "Two units of one name could not be told apart.",
			units:  []runner.Unit{{Name: "a", Run: fine}, {Name: "a", Run: fine}},
			want:   `unit "a" is a duplicate`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := runner.Run(t.Context(), runner.Options{}, tc.units...)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nRun(...) = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
