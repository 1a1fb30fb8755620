// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// hollowProcess is set for the process that is the API servers of the shoots.
const hollowProcess = "TERRARIUM_HOLLOW_SHOOTS"

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if os.Getenv(hollowProcess) == "" {
		os.Exit(m.Run())
	}
	if err := serveHollow(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveHollow runs API servers, writes their kubeconfigs, and ends with its input.
func serveHollow() error {
	_, kubeconfigs, err := startHollow(dense)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(kubeconfigs); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// elsewhere runs API servers in a process of their own, so that only the gardenlet's share is measured.
func elsewhere(b *testing.B) [][]byte {
	b.Helper()
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), hollowProcess+"=1"), os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = in.Close(), child.Wait() })
	var kubeconfigs [][]byte
	if err := json.NewDecoder(out).Decode(&kubeconfigs); err != nil {
		b.Fatal(err)
	}
	return kubeconfigs
}

// BenchmarkRound measures a round of checks of a hundred shoots after the first, and what a shoot that is known costs in memory.
func BenchmarkRound(b *testing.B) {
	plants := newBed(b, elsewhere(b))
	before := inUse()
	plants.round(b)
	perShoot := float64(inUse()-before) / dense
	for b.Loop() {
		plants.round(b)
	}
	b.ReportMetric(perShoot/1024, "KiB/shoot")
	b.ReportMetric(float64(runtime.NumGoroutine())/dense, "goroutines/shoot")
}

// inUse is the memory that is in use, of heap and stacks.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	stats := runtime.MemStats{}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}
