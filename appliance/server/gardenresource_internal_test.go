// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
)

// TestEachCheckHasACondition finds a check of the doctor that no condition of the Garden shows, or another one than users know it
// from. Units are what the server consists of [OPER-CARE-1, OPER-CARE-2, OPER-CARE-3].
func TestEachCheckHasACondition(t *testing.T) {
	t.Parallel()
	const host, virtual, objects = "RuntimeComponentsHealthy", "VirtualComponentsHealthy", "ObjectsHealthy"
	want := map[string][]string{
		"backups": {host}, "clock": {host}, "directory": {host}, "disk": {host}, "host": {host}, "port": {host}, "store": {host},
		"certificates": {virtual}, "server": {virtual}, "units": {virtual},
		"requests": {objects}, "seeds": {objects}, "shoots": {objects}, "stuck": {objects},
	}
	report := doctor.Examine(&doctor.Facts{})
	checks := slices.Clone(report.Checked)
	for _, s := range report.Skipped {
		checks = append(checks, s.Check)
	}
	got := map[string][]string{}
	for _, check := range checks {
		for _, c := range judge([]doctor.Finding{{ID: "x", Check: check, Severity: doctor.Critical}}) {
			if c.Status == gardencorev1beta1.ConditionFalse {
				got[check] = append(got[check], string(c.Type))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions that are False because of a critical finding of each check (-want +got):\n%s", diff)
	}
}

// TestConditionOfAPI_OPER_CARE_1 asks API servers that are well, ill and off.
func TestConditionOfAPI_OPER_CARE_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		answer int
		off    bool
		want   string
	}{
		"well": {reason: "it answers 200", answer: http.StatusOK, want: "VirtualGardenAPIServerAvailable True HealthzRequestSucceeded"},
		"ill":  {reason: "it answers something else", answer: http.StatusInternalServerError, want: "VirtualGardenAPIServerAvailable False HealthzRequestFailed"},
		"off":  {reason: "nobody answers", off: true, want: "VirtualGardenAPIServerAvailable False HealthzRequestFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/healthz" {
					t.Errorf("asked for %q", r.URL.Path)
				}
				w.WriteHeader(tc.answer)
			}))
			defer api.Close()
			if tc.off {
				api.Close()
			}
			loopback, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
			if err != nil {
				t.Fatal(err)
			}
			c := (&gardenStatus{loopback: loopback}).api(t.Context())
			if got := fmt.Sprint(c.Type, " ", c.Status, " ", c.Reason); got != tc.want {
				t.Errorf("%s: condition %s (%s), want %s", tc.reason, got, c.Message, tc.want)
			}
		})
	}
}

// TestHealthWithoutObjects_OPER_CARE_1 has a doctor who cannot read the objects, as when the API server is ill.
func TestHealthWithoutObjects_OPER_CARE_1(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer api.Close()
	loopback, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	errUnread := errors.New("no answer")
	found, err := (&gardenStatus{
		loopback: loopback, examine: func(context.Context) (*doctor.Report, error) { return nil, errUnread },
	}).health(t.Context())
	if !errors.Is(err, errUnread) || len(found) != 1 || found[0].Type != "VirtualGardenAPIServerAvailable" || found[0].Status != gardencorev1beta1.ConditionFalse {
		t.Errorf("health(...) = %v, %v, want what the API has answered, and that the rest is not known", found, err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		host, virtual, observability, objects = "RuntimeComponentsHealthy", "VirtualComponentsHealthy", "ObservabilityComponentsHealthy", "ObjectsHealthy"
	)
	for name, tc := range map[string]struct {
		reason   string
		findings []doctor.Finding
		want     map[string]string
	}{
		"well": {reason: "nothing is wrong"},
		"warning": {
			"a warning is told",
			[]doctor.Finding{{ID: "backup-none", Check: "backups", Severity: doctor.Warning}},
			map[string]string{host: "True RuntimeComponentsRunning The doctor has found backup-none. What to do, it says in: terrarium doctor"},
		},
		"critical": {
			"a critical finding makes the condition False, whatever comes before",
			[]doctor.Finding{
				{ID: "disk-space", Check: "disk", Severity: doctor.Warning},
				{ID: "store-damaged", Check: "store", Severity: doctor.Critical, Object: &doctor.Object{Kind: "Store", Name: "objects"}},
			},
			map[string]string{host: "False StoreDamaged The doctor has found disk-space, critical store-damaged (Store objects). What to do, it says in: terrarium doctor"},
		},
		"unit": {
			"a part of the server counts where it belongs",
			[]doctor.Finding{
				{ID: "unit-not-ready", Check: "units", Severity: doctor.Critical, Object: &doctor.Object{Kind: "Unit", Name: "audit"}},
				{ID: "unit-not-ready", Check: "units", Severity: doctor.Critical, Object: &doctor.Object{Kind: "Unit", Name: "timeline"}},
				{ID: "unit-not-ready", Check: "units", Severity: doctor.Critical, Object: &doctor.Object{Kind: "Unit", Name: "store-health"}},
			},
			map[string]string{
				observability: "False UnitNotReady The doctor has found critical unit-not-ready (Unit audit), critical unit-not-ready (Unit timeline). What to do, it says in: terrarium doctor",
				virtual:       "False UnitNotReady The doctor has found critical unit-not-ready (Unit store-health). What to do, it says in: terrarium doctor",
			},
		},
		"object": {
			"an object is told with its namespace",
			[]doctor.Finding{{ID: "shoot-failed", Check: "shoots", Severity: doctor.Warning, Object: &doctor.Object{Kind: "Shoot", Namespace: "garden-meadow", Name: "sprout"}}},
			map[string]string{objects: "True ObjectsHealthy The doctor has found shoot-failed (Shoot garden-meadow/sprout). What to do, it says in: terrarium doctor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{
				host: "True RuntimeComponentsRunning The doctor has found nothing.", virtual: "True VirtualComponentsRunning The doctor has found nothing.",
				observability: "True ObservabilityComponentsRunning The doctor has found nothing.", objects: "True ObjectsHealthy The doctor has found nothing.",
			}
			maps.Copy(want, tc.want)
			got := map[string]string{}
			for _, c := range judge(tc.findings) {
				got[string(c.Type)] = string(c.Status) + " " + c.Reason + " " + c.Message
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if c := judge(slices.Repeat([]doctor.Finding{{ID: "seed-not-ready", Check: "seeds", Severity: doctor.Critical}}, 12)); len(c[3].Message) > 400 ||
		c[3].Status != gardencorev1beta1.ConditionFalse {
		t.Errorf("a message is bounded, got %q", c[3].Message)
	}
}

// TestTellGeneration shows the generation of the keys, which gardens with SQLite do not have.
func TestTellGeneration(t *testing.T) {
	t.Parallel()
	findings := []doctor.Finding{{ID: "server-off", Check: "certificates", Severity: doctor.Warning}}
	const nothing = "The doctor has found nothing."
	want := []string{
		nothing, "The keys of the garden have generation 7, for 2 servers. The doctor has found server-off. What to do, it says in: terrarium doctor",
		nothing, nothing,
	}
	var got []string
	for _, c := range tellGeneration(judge(findings), 7, make([]sharing.Holder, 2)) {
		got = append(got, c.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions with a generation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(judge(findings), tellGeneration(judge(findings), 0, nil)); diff != "" {
		t.Errorf("conditions without one (-want +got):\n%s", diff)
	}
}

func TestKubernetesVersion(t *testing.T) {
	t.Parallel()
	for built, want := range map[string]string{"v1.36.3": "1.36.3", "v0.0.0-master+$Format:%H$": "1.36.0", "": "1.36.0"} {
		if got := kubernetesVersion(built); got != want {
			t.Errorf("kubernetesVersion(%q) = %q, want %q", built, got, want)
		}
	}
}

// suspended is a clock of a machine that was suspended: it is later, and the timers did not run.
type suspended struct {
	*clocktesting.FakeClock

	by atomic.Int64
}

// Now implements clock.PassiveClock.
func (s *suspended) Now() time.Time { return s.FakeClock.Now().Add(time.Duration(s.by.Load())) }

// TestAwaitWindow waits for the maintenance time window of the Garden, also on a machine that is suspended meanwhile.
func TestAwaitWindow(t *testing.T) {
	t.Parallel()
	clk := &suspended{FakeClock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))}
	m := &maintenance{clock: clk}
	if !m.await(t.Context()) {
		t.Error("without a Garden nothing is waited for")
	}
	w, _ := query.MaintenanceWindow(&gardencorev1beta1.ShootSpec{Maintenance: &gardencorev1beta1.Maintenance{
		TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "230000+0000"},
	}})
	m.window.Store(&w)
	open := make(chan bool, 1)
	go func() { open <- m.await(t.Context()) }()
	waits := func() {
		t.Helper()
		for !clk.HasWaiters() && t.Context().Err() == nil {
			runtime.Gosched()
		}
	}
	waits()
	clk.Step(18 * time.Hour)
	waits()
	clk.by.Store(int64(time.Hour - time.Minute))
	clk.Step(lookAgain - 9*time.Minute - time.Second)
	select {
	case <-open:
		t.Error("it is a second too early")
	default:
	}
	clk.Step(lookAgain)
	select {
	case is := <-open:
		if !is {
			t.Error("the window is open, and nothing was waited for")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the window is open, and it is waited for")
	}
	if !m.await(t.Context()) {
		t.Error("in the window nothing is waited for")
	}
}
