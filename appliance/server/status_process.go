// SPDX-License-Identifier: Apache-2.0

package server

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// processStatus is what the process takes of the machine.
type processStatus struct {
	CPUSeconds       float64 `json:"cpuSeconds"`
	ResidentBytes    int64   `json:"residentBytes,omitempty"`
	HeapBytes        uint64  `json:"heapBytes"`
	MemoryLimitBytes int64   `json:"memoryLimitBytes,omitempty"`
	Goroutines       int     `json:"goroutines"`
	OpenFiles        int     `json:"openFiles,omitempty"`
}

// controllerStatus is what the metrics of a controller say since the start.
type controllerStatus struct {
	Name       string `json:"name"`
	Reconciles int    `json:"reconciles"`
	Errors     int    `json:"errors"`
	Active     int    `json:"active"`
	Queue      int    `json:"queue"`
}

// process reads what this process takes. Without a limit of memory, the limit is math.MaxInt64.
func process(memoryLimit int64) processStatus {
	is := processStatus{Goroutines: runtime.NumGoroutine(), HeapBytes: heapBytes()}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		is.CPUSeconds = time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	if memoryLimit < math.MaxInt64 {
		is.MemoryLimitBytes = memoryLimit
	}
	// Only Linux has these files.
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			is.ResidentBytes = pages * int64(os.Getpagesize())
		}
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		is.OpenFiles = len(open)
	}

	return is
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}

	return sample[0].Value.Uint64()
}

// controllers sums up the metrics of the controllers, which controller-runtime keeps for the process.
func controllers() []controllerStatus {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		return nil
	}
	found := map[string]*controllerStatus{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := label(m, "controller")
			if name == "" {
				continue
			}
			if found[name] == nil {
				found[name] = &controllerStatus{Name: name}
			}
			found[name].add(family.GetName(), m)
		}
	}
	var all []controllerStatus
	for _, c := range found {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b controllerStatus) int { return strings.Compare(a.Name, b.Name) })

	return all
}

func (c *controllerStatus) add(family string, m *dto.Metric) {
	switch family {
	case "controller_runtime_reconcile_total":
		c.Reconciles += int(m.GetCounter().GetValue())
	case "controller_runtime_reconcile_errors_total":
		c.Errors += int(m.GetCounter().GetValue())
	case "controller_runtime_active_workers":
		c.Active += int(m.GetGauge().GetValue())
	case "workqueue_depth":
		c.Queue += int(m.GetGauge().GetValue())
	}
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}

	return ""
}
