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

// BenchmarkStart starts a server on the data directory of one that has ended, with so many ConfigMaps of 1 kB in it. It prints the time
// and the processor time until the server is ready. BENCH_START_PROFILE names a file for a profile of the last start.
func BenchmarkStart(b *testing.B) {
	if !*starts {
		b.Skip("asked for by -start")
	}
	for _, present := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("objects=%d", present), func(b *testing.B) { benchmarkStart(b, present) })
	}
}

func benchmarkStart(b *testing.B, present int) {
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
	g.fill(b, present)
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

// fill makes ConfigMaps.
func (g *garden) fill(b *testing.B, count int) {
	b.Helper()
	const writers, size = 16, 1 << 10
	text := bytes.Repeat([]byte("x"), size)
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(writers)
	for n := range count {
		group.Go(func() error {
			body := fmt.Appendf(nil, `{"metadata":{"name":"c-%d"},"data":{"text":%q}}`, n, text)
			_, err := g.send(ctx, http.MethodPost, "/api/v1/namespaces/"+namespace+"/configmaps", body)

			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
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
