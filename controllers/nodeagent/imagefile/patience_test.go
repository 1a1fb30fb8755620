// SPDX-License-Identifier: Apache-2.0

package imagefile_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

var errAway = errors.New("the registry is away")

// source counts how often it is asked for each image.
type source struct {
	asked map[string]int
	err   error
}

func (s *source) Fetch(_ context.Context, _ string, ref imagefile.Ref, to io.Writer) error {
	s.asked[ref.Image]++
	if s.err == nil {
		_, err := to.Write([]byte("content"))
		return err
	}
	return s.err
}

// TestPatience_EXT_OSC_3 asks for what fails every ten seconds for half an hour.
func TestPatience_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	inner := &source{asked: map[string]int{}, err: errAway}
	clock := testingclock.NewFakePassiveClock(time.Unix(1000, 0))
	p := &imagefile.Patience{Inner: inner, Clock: clock}
	ask := func(ctx context.Context, image string) error {
		return p.Fetch(ctx, "", imagefile.Ref{Image: image, Path: "/tool"}, io.Discard)
	}
	var tries []string
	for at := range 181 {
		before := inner.asked["a"]
		if err := ask(t.Context(), "a"); !errors.Is(err, errAway) {
			t.Fatalf("Fetch(...) = %v, want why the last try has failed", err)
		}
		if inner.asked["a"] > before {
			tries = append(tries, (time.Duration(at) * 10 * time.Second).String())
		}
		clock.SetTime(clock.Now().Add(10 * time.Second))
	}
	if diff := cmp.Diff([]string{"0s", "10s", "30s", "1m10s", "2m30s", "5m10s", "10m30s", "20m30s"}, tries); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
	if err := ask(t.Context(), "b"); !errors.Is(err, errAway) || inner.asked["b"] != 1 {
		t.Errorf("another image waits for the first one: %v", err)
	}
	inner.err = nil
	clock.SetTime(clock.Now().Add(10 * time.Minute))
	if err := ask(t.Context(), "a"); err != nil {
		t.Errorf("Fetch(...) = %v, although the registry is back", err)
	}
	inner.err = errAway
	ended, end := context.WithCancel(t.Context())
	end()
	before := inner.asked["a"]
	_, _ = ask(ended, "a"), ask(t.Context(), "a")
	if got := inner.asked["a"] - before; got != 2 {
		t.Errorf("after a success and an interruption %d tries, want two", got)
	}
}
