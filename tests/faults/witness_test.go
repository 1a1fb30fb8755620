// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// witness is a client that works while others abuse the server: it writes objects and reads what it has written. Nothing of that may fail.
type witness struct {
	stop    context.CancelFunc
	done    chan struct{}
	writes  int
	slowest time.Duration
	err     error
}

// witness begins to work. It has a connection of its own.
func (g *garden) witness(t *testing.T, name string) *witness {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &witness{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil && w.err == nil {
			began := time.Now()
			w.err = w.once(context.WithoutCancel(ctx), g.clients[0], fmt.Sprintf("%s-%d", name, w.writes))
			w.slowest = max(w.slowest, time.Since(began))
			w.writes++
		}
	}()
	t.Cleanup(func() { cancel(); <-w.done })

	return w
}

func (w *witness) once(ctx context.Context, c client.Client, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	mine := note(name, "1")
	if err := c.Create(ctx, mine); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(mine), note("", "")); err != nil {
		return fmt.Errorf("get: %w", err)
	}
	if err := c.Delete(ctx, mine); err != nil {
		return fmt.Errorf("delete: %w", err)
	}

	return nil
}

// end stops the work and fails the test if any of it failed, or if there was none.
func (w *witness) end(t *testing.T) {
	t.Helper()
	w.stop()
	<-w.done
	if w.err != nil || w.writes == 0 {
		t.Errorf("a client that abuses nothing sees no error: got %v after %d rounds", w.err, w.writes)
	}
	t.Logf("meanwhile another client created, read and deleted %d objects, the slowest in %s", w.writes, w.slowest.Round(time.Millisecond))
}

// address is where the server listens.
func (g *garden) address(t *testing.T) string {
	t.Helper()
	at, err := url.Parse(g.config.Host)
	if err != nil {
		t.Fatal(err)
	}

	return at.Host
}

// connect opens a connection without saying anything.
func (g *garden) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", g.address(t))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // Nothing is lost.

	return conn
}

// anonymous is the configuration of a client that the server does not know.
func (g *garden) anonymous() *rest.Config {
	c := rest.AnonymousClientConfig(g.config)
	c.QPS, c.Dial = -1, dialer()

	return c
}

// descriptors is how many files and connections the server has open.
func (g *garden) descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(g.command.Process.Pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}

	return len(entries)
}

// memory is how much the server has in memory, in MiB.
func (g *garden) memory(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(g.command.Process.Pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")))
			if err != nil {
				t.Fatal(err)
			}

			return kib / 1024
		}
	}
	t.Fatal("the kernel does not tell the memory of the server")

	return 0
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return holds(ctx), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// settled waits until the server has closed what the abuse had opened. A few descriptors come and go by themselves.
func (g *garden) settled(t *testing.T, before int) {
	t.Helper()
	eventually(t, "the server closes the connections of clients that went away", func(context.Context) bool { return g.descriptors(t) <= before+10 })
}

// raw reads a path as an administrator, whatever the status of the answer.
func (g *garden) raw(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	c, err := rest.HTTPClientFor(g.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.config.Host+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // Nothing is lost.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}

	return string(text)
}
