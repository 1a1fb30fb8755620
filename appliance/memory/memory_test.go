// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/memory"
)

func TestDefault(t *testing.T) {
	t.Parallel()

	const (
		meminfo = "MemTotal:        8388608 kB\nMemFree:          123456 kB\n"
		unit    = "0::/system.slice/terrarium-server.service\n"
		slice   = "sys/fs/cgroup/system.slice/"
		own     = slice + "terrarium-server.service/memory.max"
	)
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   int64
	}{
		"Machine":   {"Half of the machine is the garden's.", map[string]string{"proc/meminfo": meminfo}, 4 << 30},
		"Container": {"A container has less than the machine.", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "1073741824\n"}, 512 << 20},
		"Unbounded": {"A container without a bound has what the machine has.", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "max\n"}, 4 << 30},
		"Small":     {"A garden does not work with less.", map[string]string{"sys/fs/cgroup/memory.max": "104857600\n"}, memory.Least},
		"Unit":      {"A unit has what MemoryMax= gives it.", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": unit, own: "2147483648\n"}, 1 << 30},
		"Slice": {
			"All units of a slice together have no more than the slice.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": unit, own: "2147483648\n", slice + "memory.max": "1073741824\n"},
			512 << 20,
		},
		"UnitOfSlice": {
			"The least counts, also that of a unit in a slice with more.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": unit, own: "2147483648\n", slice + "memory.max": "4294967296\n"},
			1 << 30,
		},
		"UnboundedUnit": {
			"A unit without a bound has what the machine has.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": unit, own: "max\n", slice + "memory.max": "max\n"},
			4 << 30,
		},
		"OtherUnit": {
			"What other units have does not count.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": unit, slice + "other.service/memory.max": "1073741824\n"},
			4 << 30,
		},
		"OwnRoot": {
			"A container may see its own group as the root.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"},
			512 << 20,
		},
		"UnseenGroup": {
			"Or the path of a group that it does not see.",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../pod/box\n", "sys/fs/cgroup/memory.max": "1073741824\n"},
			512 << 20,
		},
		"Version1": {
			"With control groups of version 1, the line of version 2 says nothing about memory.",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/system.slice\n0::/system.slice\n", slice + "memory.max": "max\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
			},
			512 << 20,
		},
		"NoVersion2": {
			"Nor is there such a line everywhere.",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/system.slice\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
			},
			512 << 20,
		},
		"Unknown": {"Where nothing is known, a garden of usual size has enough.", nil, 1 << 30},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root := t.TempDir()
			for file, text := range tc.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := memory.Default(root); got != tc.want {
				t.Errorf("%s\nDefault(...): got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// settings are those of the collector.
type settings struct{ Limit, Growth int64 }

func current() settings {
	read := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(read)

	return settings{Limit: int64(read[0].Value.Uint64()), Growth: int64(read[1].Value.Uint64())}
}

// TestLimit does not run beside others: the collector belongs to the process.
func TestLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))

	debug.SetMemoryLimit(math.MaxInt64)
	ready := memory.Limit(1 << 30)
	if got := debug.SetGCPercent(-1); got != -1 {
		t.Errorf("A start is not interrupted.\nSetGCPercent(-1): got %d before, want -1", got)
	}
	ready()
	got := settings{Limit: debug.SetMemoryLimit(-1), Growth: int64(debug.SetGCPercent(100))}
	if diff := cmp.Diff(settings{Limit: 1 << 30, Growth: 70}, got); diff != "" {
		t.Errorf("Then the limit counts, and the heap stays smaller than usual.\nsettings (-want +got):\n%s", diff)
	}

	debug.SetMemoryLimit(math.MaxInt64)
	memory.Limit(1 << 30)
	runtime.GC() // A garden with so much in it that the start collects.
	deadline := time.Now().Add(time.Minute)
	for got = current(); got.Growth != 70 && time.Now().Before(deadline); got = current() {
		runtime.Gosched()
	}
	if diff := cmp.Diff(settings{Limit: 1 << 30, Growth: 70}, got); diff != "" {
		t.Errorf("They count as well after the first collection.\nsettings (-want +got):\n%s", diff)
	}

	t.Setenv("GOGC", "100")
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(300 << 20)
	memory.Limit(1 << 30)()
	got = settings{Limit: debug.SetMemoryLimit(-1), Growth: int64(debug.SetGCPercent(100))}
	if diff := cmp.Diff(settings{Limit: 300 << 20, Growth: 100}, got); diff != "" {
		t.Errorf("What the environment says wins.\nsettings (-want +got):\n%s", diff)
	}
}
