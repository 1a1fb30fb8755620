// SPDX-License-Identifier: Apache-2.0

package notify_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/notify"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Unix(0, 0))
	told := make(chan string, 16)
	service := notify.New(notify.Options{
		Send: func(state string) error { told <- state; return nil }, Interval: time.Minute, Clock: c, Log: logr.Discard(),
	})
	answers := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		service.Watch(ctx, func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("a check that hangs must not delay the next one for ever")
			}
			return <-answers
		})
	}()
	step := func() {
		for !c.HasWaiters() {
			select {
			case <-ended:
				t.Fatal("Watch ended before its context")
			default:
			}
		}
		c.Step(15 * time.Second)
	}
	answers <- nil
	if got := <-told; got != "WATCHDOG=1" {
		t.Errorf("a check that succeeds gives a sign of life, got %q", got)
	}
	step()
	answers <- errors.New("hung")
	step()
	answers <- nil
	if got := <-told; got != "WATCHDOG=1" {
		t.Errorf("so does one after a failure, got %q", got)
	}
	cancel()
	<-ended
	if len(told) != 0 {
		t.Errorf("a check that fails gives no sign of life, got %q", <-told)
	}
}

// TestSystemd sets the environment of the process, so it does not run in parallel.
func TestSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // The test has ended.
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "60000000")
	service, err := notify.FromEnvironment(clock.RealClock{}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.SdNotify(true, daemon.SdNotifyReady); err != nil {
		t.Fatal(err)
	}
	service.Ready("Garden ready")
	service.Stopping()
	var got []string
	for range 2 {
		buffer := make([]byte, 256)
		n, err := socket.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(buffer[:n]))
	}
	if diff := cmp.Diff([]string{"READY=1\nSTATUS=Garden ready", "STOPPING=1\nSTATUS=Stopping"}, got); diff != "" {
		t.Errorf("only the service speaks to systemd, not a library (-want +got):\n%s", diff)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/well" {
			http.Error(w, "[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	if err := notify.Probe(t.Context(), server.Client(), server.URL+"/well"); err != nil {
		t.Errorf("Probe of a healthy process = %v", err)
	}
	err := notify.Probe(t.Context(), server.Client(), server.URL+"/ill")
	if err == nil || !strings.Contains(err.Error(), "[-]etcd failed") || strings.Contains(err.Error(), "ping") {
		t.Errorf("Probe of a process that is not healthy = %v, want the checks that failed", err)
	}
}
