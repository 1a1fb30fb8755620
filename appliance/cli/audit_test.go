// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// kubeconfigFor writes a kubeconfig for a server, and returns its path.
func kubeconfigFor(t *testing.T, server http.Handler) string {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := identity.WriteKubeconfig(path, identity.Access{Name: "garden", Server: s.URL, Token: "t"}.Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorder is a server with an audit log and a clock of its own.
type recorder struct {
	now      time.Time
	disabled bool

	mu     sync.Mutex
	events []auditlog.Event
}

func (s *recorder) record(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := auditlog.Event{AuditID: id, Verb: "delete", Time: at}
	e.User.Username = "alice"
	s.events = append(s.events, e)
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.now.UTC().Format(http.TimeFormat))
	if r.URL.Path != "/appliance/audit" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("since"))
	if err != nil && r.URL.Query().Has("since") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer := map[string]any{"items": []auditlog.Event{}}
	for _, e := range s.events {
		if !e.Time.Before(since) {
			answer["items"] = append(answer["items"].([]auditlog.Event), e)
		}
	}
	if s.disabled {
		answer["disabled"] = true
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // The client sees it.
}

// noon is the time of servers.
func noon() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC) }

// TestAuditFollow follows on a machine whose clock is ahead of that of the server.
func TestAuditFollow(t *testing.T) {
	t.Parallel()
	s := &recorder{now: noon()}
	s.record("before", noon().Add(-time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clk := clocktesting.NewFakeClock(noon().Add(10 * time.Minute))
	shown, out := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	kubeconfig := kubeconfigFor(t, s)
	go func() {
		defer out.Close() //nolint:errcheck // A pipe in memory.
		ended <- cli.Main(ctx, cli.Environment{Out: out, Err: &errs, Getenv: func(string) string { return "" }, Clock: clk},
			[]string{"audit", "--kubeconfig", kubeconfig, "--since", "5m", "--follow", "-o", "json"})
	}()
	for !clk.HasWaiters() && ctx.Err() == nil {
		runtime.Gosched()
	}
	s.record("after", noon().Add(time.Second))
	clk.Step(time.Second)

	var got auditlog.Event
	lines := bufio.NewScanner(shown)
	if lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Error(err)
		}
	}
	if got.AuditID != "after" {
		t.Errorf("An event is shown although the clock of the client is ahead.\nevent = %q", got.AuditID)
	}
	cancel()
	if status := <-ended; status != 0 {
		t.Errorf("status = %d, %s", status, errs.String())
	}
}

func TestAuditSearch(t *testing.T) {
	t.Parallel()
	const off = "the audit log is turned off in the configuration of the server"
	row := "TIME                      CODE  VERB      USER                                      OBJECT\n"
	for name, tc := range map[string]struct {
		reason   string
		disabled bool
		recorded bool
		args     string
		want     result
	}{
		"Since": {
			reason: "what is a minute old is not five minutes old, whatever the time is here", recorded: true, args: "--since 5m -o json",
			want: result{out: "1 items, disabled false"},
		},
		"Nothing":        {reason: "nothing happened", want: result{errors: "No events found.\n"}},
		"Off":            {reason: "nothing is recorded", disabled: true, want: result{status: 1, errors: "Error: " + off + "\n"}},
		"Off, JSON":      {reason: "programs see it", disabled: true, args: "-o json", want: result{status: 1, out: "0 items, disabled true", errors: "Error: " + off + "\n"}},
		"Off, following": {reason: "nothing will come", disabled: true, recorded: true, args: "-f", want: result{status: 1, errors: "Error: " + off + "\n"}},
		"Off, before": {
			reason: "what was recorded before is not all", disabled: true, recorded: true, args: "-o json",
			want: result{out: "1 items, disabled true", errors: "Warning: " + off + "; these events were recorded before.\n"},
		},
		"Off, as a table": {
			reason: "that is said for people as well", disabled: true, recorded: true,
			want: result{
				out:    row + "2030-01-02T11:59:00.000Z  -     delete    alice                                     \n",
				errors: "Warning: " + off + "; these events were recorded before.\n",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &recorder{now: noon(), disabled: tc.disabled}
			if tc.recorded {
				s.record("one", noon().Add(-time.Minute))
			}
			w := newWorld()
			w.now, w.patience = noon().Add(10*time.Minute), time.Minute
			got := w.run(t, append([]string{"audit", "--kubeconfig", kubeconfigFor(t, s)}, strings.Fields(tc.args)...)...)
			if strings.HasPrefix(got.out, "{") {
				got.out = summarize(t, got.out)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("%s\nterrarium audit %s (-want +got):\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// summarize says what a JSON answer has.
func summarize(t *testing.T, text string) string {
	t.Helper()
	var answer struct {
		Items    []auditlog.Event
		Disabled bool
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d items, disabled %t", len(answer.Items), answer.Disabled)
}
