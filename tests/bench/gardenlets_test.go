// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/tests/hollow"
)

var (
	// crowd is how many gardenlets there are.
	crowd = flag.Int("gardenlets", 0, "how many gardenlets work for a garden; 0 for none")
	// tended is how many shoots they have together.
	tended = flag.Int("tended", 0, "how many shoots they have together")
	// shift is how long they work before and after the server is killed.
	shift = flag.Duration("shift", time.Minute, "how long they are watched, and once more after a restart")
	// struck says that the server is killed in between.
	struck = flag.Bool("restart", false, "kill the server in the middle, and watch how they come back")
)

const (
	// renewal is the time between two renewals of a lease.
	renewal = 2 * time.Second
	// watches is the number of watches of a gardenlet.
	watches = 3
	// reporting is the time between two reports on a seed, and on one of its shoots.
	reporting = time.Minute
	// gardenletMemory is what all gardenlets may have together before their garbage is collected.
	gardenletMemory = 8 << 30
)

// TestGardenlets lets gardenlets without seeds work for a garden, and looks at their heartbeats and at what they cost the server.
func TestGardenlets(t *testing.T) {
	t.Parallel()
	if *crowd == 0 {
		t.Skip("asked for by -gardenlets")
	}
	// The gardenlets share the processors with the server, and would be on machines of their own elsewhere: a collection of the garbage
	// of all of them would take both processors.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(gardenletMemory)
	g := start(t)
	c := g.assemble(t, *crowd, *tended)
	ctx, end := context.WithCancel(t.Context())
	defer func() { end(); c.group.Wait() }()
	began := time.Now()
	c.work(ctx, t)
	c.awaitReady(t, 10*time.Minute)
	t.Logf("%d gardenlets have seen what there is after %s", *crowd, time.Since(began).Round(time.Millisecond))
	c.awaitReported(t, *tended)
	c.pass(t, g, reporting) // What the first reports have left to do is not counted.
	t.Logf("%s: %s", *shift, c.pass(t, g, *shift))
	if !*struck {
		return
	}
	down := time.Now()
	c.mu.Lock()
	clear(c.watching)
	c.mu.Unlock()
	if err := g.kill(); err != nil {
		t.Fatalf("start again: %v", err)
	}
	up := time.Now()
	t.Logf("ready %s after the kill", up.Sub(down).Round(time.Millisecond))
	c.take()
	back := c.awaitBack(t, up)
	t.Logf("the last gardenlet has renewed its lease %s after the server was ready; since the kill: %s",
		back.Sub(up).Round(time.Millisecond), c.take().text(time.Since(down)))
	t.Logf("the last watch has begun again %s after the server was ready", c.awaitWatching(t).Sub(up).Round(time.Millisecond))
	t.Logf("%s: %s", *shift, c.pass(t, g, *shift))
}

// gang are the gardenlets of a garden.
type gang struct {
	members []*hollow.Gardenlet
	group   sync.WaitGroup

	mu    sync.Mutex
	ready int
	// since is the first renewal of each that was answered since the last look.
	since map[string]time.Time
	// watching are the watches that were begun since the server was killed, by gardenlet and kind.
	watching map[string]struct{}
	tally    tally
}

// tally is what was seen of their requests.
type tally struct {
	// took are the times from sending to answer, behind is by how much answers came after their renewals were due.
	behind []time.Duration
	late   int
	failed map[string]int
	asked  map[string]int
}

func newTally() tally { return tally{failed: map[string]int{}, asked: map[string]int{}} }

// assemble makes seeds with shoots, and a gardenlet for each.
func (g *garden) assemble(t *testing.T, n, shootsTogether int) *gang {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	issue := g.issuer(t)
	c := &gang{since: map[string]time.Time{}, watching: map[string]struct{}{}, tally: newTally()}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for i := range n {
		name := fmt.Sprintf("hollow-%d", i)
		group.Go(func() error { return sow(ctx, g.client, name) })
		config := rest.AnonymousClientConfig(g.config)
		config.CertData, config.KeyData = issue(gardencorev1beta1.UserPrefixSeed+name, gardencorev1beta1.GroupSeeds)
		config.QPS = -1
		c.members = append(c.members, &hollow.Gardenlet{
			Config: config, Scheme: kinds, Seed: name, Renewal: renewal, Report: reporting,
			Beat:  func(due, answered time.Time, err error) { c.beat(name, due, answered, err) },
			Asked: func(what string, err error) { c.note(name, what, err) },
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("make seeds: %v", err)
	}
	body := shoots(t, unscheduled)
	group, ctx = errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for i := range shootsTogether {
		group.Go(func() error {
			name := fmt.Sprintf("h-%d", i)
			created, err := g.send(ctx, http.MethodPost, collection, body(name))
			if err != nil {
				return err
			}
			bound := strings.Replace(string(created), `"spec":{`, fmt.Sprintf(`"spec":{"seedName":"hollow-%d",`, i%n), 1)
			_, err = g.send(ctx, http.MethodPut, collection+"/"+name+"/binding", []byte(bound))

			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("make shoots: %v", err)
	}
	g.settle(t)

	return c
}

// issuer issues certificates of clients as the garden does.
func (g *garden) issuer(t *testing.T) func(name, group string) (certificate, key []byte) {
	t.Helper()
	pki := filepath.Join(g.dir, "pki")
	ca, err := tls.LoadX509KeyPair(filepath.Join(pki, "client-ca.crt"), filepath.Join(pki, "client-ca.key"))
	if err != nil {
		t.Fatalf("read the CA of clients: %v", err)
	}

	return func(name, group string) ([]byte, []byte) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, Organization: []string{group}},
			NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		der, err := x509.CreateCertificate(rand.Reader, template, ca.Leaf, key.Public(), ca.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		private, err := keyutil.MarshalPrivateKeyToPEM(key)
		if err != nil {
			t.Fatal(err)
		}

		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), private
	}
}

// work starts all gardenlets, a few at a time.
func (c *gang) work(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, member := range c.members {
		c.group.Go(func() {
			err := member.Run(ctx, func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.ready++
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func (c *gang) beat(who string, due, answered time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.tally.failed["renewal: "+brief(err)]++

		return
	}
	if _, known := c.since[who]; !known {
		c.since[who] = answered
	}
	behind := answered.Sub(due)
	c.tally.behind = append(c.tally.behind, behind)
	if behind > renewal {
		c.tally.late++
	}
}

func (c *gang) note(who, what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.asked[what]++
	switch {
	case err != nil:
		c.tally.failed[what+": "+brief(err)]++
	case strings.HasPrefix(what, "watch "):
		c.watching[who+" "+what] = struct{}{}
	}
}

// brief leaves out what differs between errors of the same sort.
func brief(err error) string {
	text := err.Error()
	for _, sort := range []string{"connection refused", "connection reset", "EOF", "deadline exceeded", "http2: client connection lost", "too many requests", "GOAWAY"} {
		if strings.Contains(text, sort) {
			return sort
		}
	}

	return text[:min(len(text), 120)]
}

// take returns what was seen since the last look.
func (c *gang) take() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.tally
	c.tally = newTally()
	clear(c.since)

	return seen
}

func (c *gang) await(t *testing.T, limit time.Duration, what string, done func() int) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for done() < len(c.members) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d of %d after %s: %s", what, done(), len(c.members), limit, c.take().text(limit))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *gang) awaitReady(t *testing.T, limit time.Duration) {
	t.Helper()
	c.await(t, limit, "gardenlets that have seen what there is", func() int {
		c.mu.Lock()
		defer c.mu.Unlock()

		return c.ready
	})
}

// awaitReported waits until each shoot was reported on.
func (c *gang) awaitReported(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Minute)
	for {
		c.mu.Lock()
		reports := c.tally.asked["report *v1beta1.Shoot"]
		c.mu.Unlock()
		if reports >= n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d shoots were reported on: %s", reports, n, c.take().text(10*time.Minute))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// awaitBack waits until each gardenlet has renewed its lease, and returns when the last one did.
func (c *gang) awaitBack(t *testing.T, up time.Time) time.Time {
	t.Helper()
	var last time.Time
	c.await(t, 2*time.Minute, "gardenlets that are back", func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		last = up
		for _, at := range c.since {
			if at.After(last) {
				last = at
			}
		}

		return len(c.since)
	})

	return last
}

// awaitWatching waits until each gardenlet has begun each of its watches again, and returns when that was seen.
func (c *gang) awaitWatching(t *testing.T) time.Time {
	t.Helper()
	c.await(t, 5*time.Minute, "gardenlets that watch again", func() int {
		c.mu.Lock()
		defer c.mu.Unlock()

		return len(c.watching) / watches
	})

	return time.Now()
}

// pass lets time pass and says what was seen and what it cost the server.
func (c *gang) pass(t *testing.T, g *garden, d time.Duration) string {
	t.Helper()
	runtime.GC()
	answered := g.renewals(t)
	c.take()
	most := g.resident(t, "VmHWM")
	g.forgetMost(t)
	before := g.spent(t)
	time.Sleep(d)
	cost := g.spent(t) - before
	seen := c.take()

	return fmt.Sprintf("%.1f %% of one core, %d MiB now, %d MiB at most, %d MiB before; %s; %s", 100*cost.Seconds()/d.Seconds(),
		g.resident(t, "VmRSS")>>20, g.resident(t, "VmHWM")>>20, most>>20, g.renewals(t).since(answered), seen.text(d))
}

// forgetMost makes the kernel forget the most memory that the server has had.
func (g *garden) forgetMost(t *testing.T) {
	t.Helper()
	const peak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", g.command.Process.Pid), []byte(peak), 0); err != nil {
		t.Fatal(err)
	}
}

func (s tally) text(d time.Duration) string {
	slices.Sort(s.behind)
	var p50, p99, most time.Duration
	if n := len(s.behind); n > 0 {
		p50, p99, most = s.behind[n/2], s.behind[n*99/100], s.behind[n-1]
	}
	text := fmt.Sprintf("%.0f renewals/s, answered p50 %s, p99 %s, %s at most after they were due, %d late",
		float64(len(s.behind))/d.Seconds(), p50.Round(100*time.Microsecond), p99.Round(100*time.Microsecond), most.Round(time.Millisecond), s.late)
	for _, counts := range []map[string]int{s.asked, s.failed} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			text += fmt.Sprintf("\n\t%-60s %6d", what, counts[what])
		}
	}

	return text
}
