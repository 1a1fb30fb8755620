// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// The limits of the host.
const (
	diskWarning, diskCritical = 15, 5 // percent that is free
	diskPlenty                = 20 << 30
	diskScarce                = 256 << 20
	filesWarning              = 80 // percent that is used
	minFiles                  = 4096
	memoryWarning             = 95
	percent                   = 100
	clockSlack                = 2 * time.Minute
	othersMayRead             = 0o077
)

func disk(f *Facts) []Finding {
	d := f.Disk
	var found []Finding
	const why = "without space the garden refuses all changes; what exists can still be read"
	do := fmt.Sprintf("remove other files from the disk of %s, or enlarge it; \"terrarium store vacuum\" gives unused space of the databases back", d.Path)
	if d.ReadOnly {
		found = append(found, Finding{
			ID: "disk-full", Severity: Critical, Why: why, Do: do + "; the garden continues by itself",
			What: fmt.Sprintf("The disk of %s is full, and changes are refused", d.Path),
		})
	}
	if level := space(d.FreeBytes, d.TotalBytes); level != OK {
		found = append(found, Finding{
			ID: "disk-space", Severity: level, Why: why, Do: do,
			What: fmt.Sprintf("%s of %s are free on the disk of %s", bytes(d.FreeBytes), bytes(d.TotalBytes), d.Path),
		})
	}
	if d.TotalFiles > 0 && d.FreeFiles < d.TotalFiles*diskCritical/percent {
		found = append(found, Finding{
			ID: "disk-inodes", Severity: Warning, Why: "no file can be created without one", Do: do,
			What: fmt.Sprintf("Only %d of %d inodes are free on the disk of %s", d.FreeFiles, d.TotalFiles, d.Path),
		})
	}

	return found
}

// space judges free space, by its share of the disk and, on large disks, by itself.
func space(free, total uint64) Severity {
	switch {
	case total == 0:
		return OK
	case free < diskScarce, free < total*diskCritical/percent && free < diskPlenty/4:
		return Critical
	case free < total*diskWarning/percent && free < diskPlenty:
		return Warning
	default:
		return OK
	}
}

// bytes formats a size.
func bytes(n uint64) string {
	const unit = 1024
	value, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && value >= unit {
		value, units = value/unit, units[1:]
	}

	return fmt.Sprintf("%.4g %s", value, units[0])
}

func host(f *Facts) []Finding {
	h := f.Host
	var found []Finding
	const why = "each connection needs an open file; a server without any refuses clients"
	switch {
	case h.OpenFilesLimit == 0:
	case h.OpenFiles*percent > h.OpenFilesLimit*filesWarning:
		found = append(found, Finding{
			ID: "open-files", Severity: Critical, Why: why,
			What: fmt.Sprintf("%d of at most %d files are open", h.OpenFiles, h.OpenFilesLimit),
			Do:   "raise LimitNOFILE of the service, and restart it",
		})
	case h.OpenFilesLimit < minFiles:
		found = append(found, Finding{
			ID: "open-files-limit", Severity: Warning, Why: why,
			What: fmt.Sprintf("The server may open only %d files", h.OpenFilesLimit),
			Do:   fmt.Sprintf("set LimitNOFILE of the service to %d or more, and restart it", minFiles),
		})
	}
	if h.MemoryLimitBytes > 0 && h.MemoryBytes*percent > h.MemoryLimitBytes*memoryWarning {
		found = append(found, Finding{
			ID: "memory", Severity: Warning,
			What: fmt.Sprintf("The server uses %s of memory, and its limit is %s", bytes(uint64(max(h.MemoryBytes, 0))), bytes(uint64(h.MemoryLimitBytes))),
			Why:  "close to its limit, the server spends its time on collecting garbage",
			Do:   "set a larger memory.limit, on a machine with enough memory",
		})
	}
	if h.DataDirMode&othersMayRead != 0 {
		found = append(found, Finding{
			ID: "data-directory-mode", Severity: Critical,
			What: fmt.Sprintf("Others may access the data directory %s (mode %#o)", h.DataDir, h.DataDirMode),
			Why:  "it contains the keys of the garden", Do: "chmod 0700 " + h.DataDir,
		})
	}
	for _, dir := range h.Leftovers {
		found = append(found, Finding{
			ID: "restore-leftover", Severity: Warning, Object: &Object{Kind: "Directory", Name: dir},
			What: "An interrupted restore has left " + dir,
			Why:  "it contains keys of the garden, and takes space",
			Do:   "unless a restore is running, remove it: rm -r " + dir + "; the next restore removes it as well",
		})
	}

	return found
}

func clock(f *Facts) []Finding {
	var found []Finding
	if back := f.Clock.Newest.Sub(f.Now); back > clockSlack {
		found = append(found, Finding{
			ID: "clock-back", Severity: Critical,
			What: "The clock is " + duration.HumanDuration(back) + " behind a time that the garden has already seen",
			Why:  "certificates and tokens are not valid yet, and nothing expires",
			Do:   "set the clock of the machine, for example with timedatectl, and let a time service keep it",
		})
	}
	if f.Clock.Known && !f.Clock.Synchronized {
		found = append(found, Finding{
			ID: "clock-unsynchronized", Severity: Info,
			What: "No time service keeps the clock of the machine in step",
			Why:  "certificates, tokens and heartbeats depend on the time; a wrong clock locks gardenlets out",
			Do:   "run a time service such as systemd-timesyncd or chrony (in a container: on its host)",
		})
	}

	return found
}

func port(f *Facts) []Finding {
	if f.Port.Problem == "" {
		return nil
	}

	return []Finding{{
		ID: "port", Severity: Critical,
		What: fmt.Sprintf("The server could not listen on %q: %s", f.Port.Address, f.Port.Problem),
		Why:  "the server does not start", Do: "stop the process that uses the port, or choose another port with --listen",
	}}
}

func units(f *Facts) []Finding {
	var found []Finding
	for name, ready := range f.Units {
		if !ready {
			found = append(found, Finding{
				ID: "unit-not-ready", Severity: Critical, Object: &Object{Kind: "Unit", Name: name},
				What: fmt.Sprintf("The part %q of the server is not ready", name),
				Why:  "what it does is not done", Do: "see the log of the server; if it stays so, restart the server",
			})
		}
	}

	return found
}

// answers reports that the server should have answered.
func answers(f *Facts) []Finding {
	if f.Unanswered == "" {
		return nil
	}
	x := Finding{
		ID: "server-down", Severity: Critical, Why: "nobody can use the garden; the shoots go on running",
		What: "The server does not run: " + f.Unanswered, Do: "start it, for example with \"systemctl start terrarium\"",
	}
	if f.InUse {
		x.ID, x.What = "server-silent", "A process uses the data directory, but the server does not answer: "+f.Unanswered
		x.Do = "see its log; it may be starting, or listen on another address"
	}

	return []Finding{x}
}
