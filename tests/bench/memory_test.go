// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// heavy is how long TestMemory writes; 0 leaves it out.
var heavy = flag.Duration("memory", 0, "how long to write before the memory of the server is looked at; 0 for not at all")

const (
	// live is the number of objects of each of two kinds.
	live = 50
	// underLoad and atRest bound the memory of a server, whatever was written, with so few objects.
	underLoad, atRest = 400 << 20, 300 << 20
	// pause is how long after the last write a server may take to give memory back.
	pause = time.Minute
	// heapDir is where profiles of the memory are left, when set.
	heapDir = "BENCH_HEAPS"
)

// TestMemory changes a hundred objects as fast as it can and looks at the memory that the server takes meanwhile, and a
// minute later. BENCH_HEAPS names a folder for profiles of what is in the memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	if *heavy == 0 {
		t.Skip("asked for by -memory")
	}
	g := start(t)
	t.Logf("at the beginning: %d MiB", g.resident(t, "VmRSS")>>20)
	configMaps := "/api/v1/namespaces/" + namespace + "/configmaps"
	shoot := shoots(t, unscheduled)
	var paths []string
	for n := range live {
		name := fmt.Sprintf("m-%d", n)
		config := fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"text":%q}}`, name, bytes.Repeat([]byte("x"), 2<<10))
		for path, body := range map[string][]byte{configMaps: config, collection: shoot(name)} {
			if _, err := g.send(t.Context(), http.MethodPost, path, body); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path+"/"+name)
		}
	}
	g.profile(t)
	t.Logf("with %d objects: %d MiB", len(paths), g.resident(t, "VmRSS")>>20)
	writes := g.hammer(t, paths)
	peak := g.resident(t, "VmHWM")
	g.profile(t)
	time.Sleep(pause)
	after := g.resident(t, "VmRSS")
	g.profile(t)
	t.Logf("%d writes in %s: at most %d MiB, %d MiB after %s of rest", writes, *heavy, peak>>20, after>>20, pause)
	if peak > underLoad || after > atRest {
		t.Errorf("What was written long ago takes no memory.\ngot %d MiB at most and %d MiB at rest, want %d and %d",
			peak>>20, after>>20, underLoad>>20, atRest>>20)
	}
}

// hammer changes objects until it is time.
func (g *garden) hammer(t *testing.T, paths []string) (writes int64) {
	t.Helper()
	var made atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), *heavy)
	defer stop()
	group := errgroup.Group{}
	for range writers {
		group.Go(func() error {
			for ctx.Err() == nil {
				n := made.Add(1)
				body := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":"%d"}}}`, n)
				if err := g.patch(t.Context(), paths[int(n)%len(paths)], body); err != nil { //nolint:contextcheck // What has begun is finished.
					return err
				}
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}

	return made.Load()
}

// resident is what the kernel says of the memory of the server.
func (g *garden) resident(t *testing.T, name string) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := bytes.Cut(raw, []byte(name+":"))
	kibibytes, err := strconv.ParseInt(string(bytes.Fields(line)[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	return kibibytes << 10
}

// heaps leaves a profile of what is in the memory of this process whenever it is told to.
func heaps(dir string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	for n := 1; ; n++ {
		<-told
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("heap-%d.pprof", n)))
		if err == nil {
			err = errors.Join(pprof.WriteHeapProfile(f), f.Close())
		}
		err = errors.Join(err, second(filepath.Join(dir, fmt.Sprintf("trace-%d.out", n))))
		stats := runtime.MemStats{}
		runtime.ReadMemStats(&stats)
		fmt.Fprintf(os.Stderr, "heap %d: %d MiB of objects in %d MiB of spans, %d MiB at the next collection, %d MiB unused and not released, %d MiB of stacks, %d MiB of the runtime, %v\n",
			n, stats.HeapAlloc>>20, stats.HeapInuse>>20, stats.NextGC>>20, (stats.HeapIdle-stats.HeapReleased)>>20, stats.StackSys>>20,
			(stats.GCSys+stats.MSpanSys+stats.MCacheSys+stats.BuckHashSys+stats.OtherSys)>>20, err)
	}
}

// second leaves a trace of one second, which tells what waits for a processor: `go tool trace -pprof=sched`.
func second(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		return errors.Join(err, f.Close())
	}
	time.Sleep(time.Second)
	trace.Stop()

	return f.Close()
}

// profile asks the server for a profile of its memory.
func (g *garden) profile(t *testing.T) {
	t.Helper()
	if os.Getenv(heapDir) == "" {
		return
	}
	if err := g.command.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
}
