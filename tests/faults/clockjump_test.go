// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// jump is how far the clock of a server goes forward and back: a machine that was asleep, or whose clock was wrong.
const jump = 24 * time.Hour

// TestClockJump sets the clock of a running server a day forward and back again. Clients, watches and writes go on, and versions never
// go back.
//
//nolint:paralleltest // It uses all processors.
func TestClockJump(t *testing.T) {
	try := exec.CommandContext(t.Context(), os.Args[0])
	try.Env = append(os.Environ(), childClock+"="+probe)
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("the clock of a process cannot be set here: %s", out)
	}
	dir := t.TempDir()
	g := start(t, dir, childClock+"=1")
	other := g.witness(t, "clock")
	news, err := g.clients[1].Watch(t.Context(), &gardencorev1beta1.InternalSecretList{}, client.InNamespace(namespace), client.MatchingLabels{"clock": "jumps"})
	if err != nil {
		t.Fatal(err)
	}
	defer news.Stop()
	last := types.UID("")
	version := ""
	for _, at := range []struct {
		name   string
		signal syscall.Signal
		ahead  time.Duration
	}{{"today", 0, 0}, {"tomorrow", syscall.SIGUSR1, jump}, {"again", syscall.SIGUSR2, 0}} {
		if err := g.command.Process.Signal(at.signal); err != nil {
			t.Fatal(err)
		}
		mine := note(at.name, "1")
		mine.Labels = map[string]string{"clock": "jumps"}
		eventually(t, "the server sees the new time", func(ctx context.Context) bool {
			mine.ResourceVersion, mine.UID = "", ""
			if err := g.clients[0].Create(ctx, mine); err != nil {
				t.Fatalf("create %q: %v", at.name, err)
			}
			if difference := mine.CreationTimestamp.Sub(time.Now().Add(at.ahead)); difference.Abs() < time.Minute {
				return true
			}

			return g.clients[0].Delete(ctx, mine) != nil
		})
		if !newer(mine.ResourceVersion, version) || mine.UID == last {
			t.Errorf("%s: version %s comes after %s", at.name, mine.ResourceVersion, version)
		}
		version, last = mine.ResourceVersion, mine.UID
		if !hears(news.ResultChan(), at.name, version) {
			t.Errorf("%s: the watch goes on", at.name)
		}
	}
	other.end(t)
	g.kill()
	if diff := cmp.Diff(map[string]string{"today": "1", "tomorrow": "1", "again": "1"}, start(t, dir).notes(t.Context(), t)); diff != "" {
		t.Errorf("all is there after the next start (-want +got):\n%s", diff)
	}
}

// newer compares two resource versions.
func newer(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && strings.Compare(a, b) > 0 }

// hears waits until a watch tells of a version of an object.
func hears(events <-chan watch.Event, name, version string) bool {
	for end := time.After(patience); ; {
		select {
		case event, ok := <-events:
			if !ok {
				return false
			}
			if object, ok := event.Object.(client.Object); ok && object.GetName() == name && object.GetResourceVersion() == version {
				return true
			}
		case <-end:
			return false
		}
	}
}
