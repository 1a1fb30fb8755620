// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// starts asks for BenchmarkStart. A start takes a second, so it is not one of those that run thousands of times.
var starts = flag.Bool("start", false, "measure how long a server takes to start")

// BenchmarkStart starts a server on the data directory of one that has ended, with so many ConfigMaps of 1 kB or scheduled shoots in it.
// It prints the time and the processor time until the server is ready. BENCH_START_PROFILE names a file for a profile of the last start.
func BenchmarkStart(b *testing.B) {
	if !*starts {
		b.Skip("asked for by -start")
	}
	texts := bytes.Repeat([]byte("x"), 1<<10)
	configMap := func(name string) []byte {
		return fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"text":%q}}`, name, texts)
	}
	for _, tc := range []struct {
		name, path string
		present    int
		body       func(name string) []byte
	}{
		{name: "objects", path: "/api/v1/namespaces/" + namespace + "/configmaps", body: configMap},
		{name: "objects", path: "/api/v1/namespaces/" + namespace + "/configmaps", present: 10_000, body: configMap},
		{name: "shoots", path: collection, present: 2_000, body: shoots(b)},
	} {
		b.Run(fmt.Sprintf("%s=%d", tc.name, tc.present), func(b *testing.B) {
			benchmarkStart(b, func(g *garden) { g.fill(b, tc.path, tc.present, tc.body) })
		})
	}
}

func benchmarkStart(b *testing.B, fill func(*garden)) {
	b.Helper()
	g := &garden{}
	if err := g.open(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.stop(); err != nil {
			b.Error(err)
		}
	})
	fill(g)
	var ready, processor time.Duration
	for b.Loop() {
		b.StopTimer()
		g.end(b)
		b.StartTimer()
		began := time.Now()
		if _, err := g.launch(); err != nil {
			b.Fatal(err)
		}
		ready += time.Since(began)
		processor += g.spent(b)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ready.Seconds()/float64(b.N), "s/start")
	b.ReportMetric(processor.Seconds()/float64(b.N), "processor-s/start")
}

// fill makes objects, and waits until the controllers have done with them.
func (g *garden) fill(b *testing.B, path string, count int, body func(name string) []byte) {
	b.Helper()
	const writers = 16
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(writers)
	for n := range count {
		group.Go(func() error {
			_, err := g.send(ctx, http.MethodPost, path, body(fmt.Sprintf("c-%d", n)))

			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	g.settle(b)
}

// end stops the server and keeps what it wrote.
func (g *garden) end(b *testing.B) {
	b.Helper()
	if err := g.command.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := g.command.Wait(); err != nil {
		b.Fatal(err)
	}
}
