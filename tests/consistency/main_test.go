// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// long is how long all tests together look for faults; the short form needs no more than a minute.
var long = flag.Duration("long", 0, "how long to look for faults; 0 for the short form")

// Shares of the long form.
const (
	storeShare  = 0.35
	gardenShare = 0.45
	killShare   = 0.2
)

func TestMain(m *testing.M) {
	if err := telemetry.Redirect(logr.Discard(), telemetry.LevelError); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(serve(dir))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// rounds calls a test with each number of processors from one to four, again and again until its share of the time is
// used. The short form is one round of those that it names.
func rounds(t *testing.T, share float64, processors []int, run func(t *testing.T)) {
	t.Helper()
	if *long > 0 {
		processors = []int{1, 2, 3, 4}
	}
	began := time.Now()
	for round := 1; ; round++ {
		for _, n := range processors {
			before := runtime.GOMAXPROCS(n)
			ok := t.Run(fmt.Sprintf("Round%dProcessors%d", round, n), run)
			runtime.GOMAXPROCS(before)
			if !ok {
				return
			}
		}
		if time.Since(began) >= time.Duration(share*float64(*long)) {
			return
		}
	}
}

// disturb makes moments last that hardly do, now and then, and keeps little in memory, so that watches have to read the
// file.
func disturb(c *kine.Config) {
	c.Tune = func(l *log.Config) {
		l.HistoryBytes, l.PendingBytes = 64<<10, 8<<10
		l.Retain, l.MinRevisions, l.MaxRevisions = time.Hour, 1_000_000, 10_000_000
		l.Pause = func(at log.Moment) {
			// A store that is ahead of those who have written, and caches that are behind both, are what readers see
			// most of.
			often := at == log.Published || at == log.Delivering
			switch n := rand.IntN(40); {
			case n < 4:
				runtime.Gosched()
			case n < 8 || often && n < 16:
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
			case n == 8 || often && n < 24:
				time.Sleep(time.Duration(rand.IntN(15)) * time.Millisecond)
			}
		}
	}
}
