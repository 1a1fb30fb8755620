// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	local "github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// seeds has every Seed.
type seeds struct{}

func (seeds) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

// openReports returns the storage of reports of a timeline, in which each user is the gardenlet of a seed of the same name.
func openReports(t *testing.T, clk clock.WithTicker) (*timeline.Reports, *local.Store) {
	t.Helper()
	store, err := local.Open(local.Config{Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 30, Clock: clk, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})

	return timeline.NewReports(timeline.Settings{
		Store: store, Recorder: timeline.NewRecorder(store, clk), Clock: clk, Objects: map[string]rest.Getter{"Seed": seeds{}},
		Client: func(who user.Info) (timeline.Client, bool) {
			return timeline.Client{Seed: who.GetName(), Gardenlet: true}, true
		},
	}), store
}

// TestReportOfASeedInANamespace: a gardenlet cannot add entries to the namespace of somebody else by naming its own seed as an object of it.
func TestReportOfASeedInANamespace(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	reports, store := openReports(t, clk)
	r := &gardenappliancev1alpha1.TimelineReport{}
	for _, namespace := range []string{"", "garden-other", "garden-other\x00Shoot\x00theirs"} {
		r.Spec.Tasks = append(r.Spec.Tasks, gardenappliancev1alpha1.ReportedTask{
			Time: metav1.NewMicroTime(clk.Now()), Subject: gardenappliancev1alpha1.TimelineSubject{Kind: "Seed", Namespace: namespace, Name: "mine"},
		})
	}
	if _, err := reports.Create(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "mine"}), r, nil, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gardenappliancev1alpha1.TimelineReportStatus{Accepted: 1, Refused: 2}, r.Status); diff != "" {
		t.Errorf("status of the report (-want +got):\n%s", diff)
	}
	page, err := store.List(t.Context(), local.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range page.Entries {
		got = append(got, e.Namespace)
	}
	if diff := cmp.Diff([]string{gardencorev1beta1.NamespaceGarden}, got); diff != "" {
		t.Errorf("namespaces of the entries (-want +got):\n%s", diff)
	}
}

// TestReportLimits holds that a seed is limited by the size of what it reports, and that a gardenlet with much to tell gets in.
func TestReportLimits(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	reports, _ := openReports(t, clk)
	report := func(seed string, tasks, text, after int) error {
		r := &gardenappliancev1alpha1.TimelineReport{}
		for n := range tasks {
			task := gardenappliancev1alpha1.ReportedTask{
				Time: metav1.NewMicroTime(clk.Now()), Subject: gardenappliancev1alpha1.TimelineSubject{Kind: "Seed", Name: seed},
				Task: gardenappliancev1alpha1.TimelineTask{Flow: "reconcile", ID: fmt.Sprintf("task-of-usual-name-%d", n), Title: strings.Repeat("t", text)},
			}
			for range after {
				task.Task.After = append(task.Task.After, "task-of-usual-name")
			}
			r.Spec.Tasks = append(r.Spec.Tasks, task)
		}
		_, err := reports.Create(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: seed}), r, nil, &metav1.CreateOptions{})

		return err
	}
	until := func(seed string, tasks, text, after int) (accepted int) {
		for range 100 {
			if err := report(seed, tasks, text, after); err != nil {
				seconds, again := apierrors.SuggestsClientDelay(err)
				if !apierrors.IsTooManyRequests(err) || !again || seconds == 0 {
					t.Fatalf("a seed that reports too much gets %v, want when to try again", err)
				}

				return accepted
			}
			accepted += tasks
		}

		return accepted
	}
	if got := until("loud", 500, 2000, 0) + until("loud", 10, 2000, 0); got < 3400 || got > 3800 {
		t.Errorf("%d tasks of 2 KiB are accepted at once, want 8 MiB of them", got)
	}
	if got := until("usual", 500, 40, 8); got < 10_000 {
		t.Errorf("%d usual tasks are accepted at once, want the 10,000 that a gardenlet keeps", got)
	}
	clk.Step(4 * time.Second)
	if got := until("loud", 10, 2000, 0); got < 400 || got > 550 {
		t.Errorf("%d tasks of 2 KiB are accepted after 4 seconds, want 1 MiB of them", got)
	}
}
