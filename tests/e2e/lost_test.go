// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/road"
)

const (
	// elsewhere is where the restored garden serves, as on another machine.
	elsewhere = "127.0.0.9:26443"
	// mostLost is how old an acknowledged write may be that is lost with the disk.
	mostLost = time.Minute
)

// lost loses the machine of the garden with its disk, while it is written to and the shoot works. What is left are the snapshots, which were
// kept on another disk, and a copy of their key. The garden is restored, serves at another address, and the old one leads there. The
// gardenlet comes back by itself, the shoot was never touched, and what is asked of it then is done.
func lost(t *testing.T, w *world) {
	t.Helper()
	answered := w.watchGaps(t)
	key, saved := filepath.Join(w.state, "copy.key"), filepath.Join(w.state, "saved")
	data := filepath.Join(w.state, "garden")
	if err := os.WriteFile(key, []byte(w.must(t, w.terrarium("snapshot", "key", "--data-dir", data, "--show")...)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, w.terrarium("snapshot", "save", "--kubeconfig", filepath.Join(w.state, "garden.kubeconfig"))...)
	letters := w.writeLetters(t)
	before := w.untouched(t)

	pid := w.gardenPID(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.ended(t, []int{pid})
	gone := time.Now()
	if err := os.Rename(filepath.Join(data, "snapshots"), saved); err != nil { // It was on another disk.
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}

	again := filepath.Join(w.state, "garden-again")
	t.Log(w.must(t, w.terrarium("snapshot", "restore", "--from", saved, "--key", key, "--data-dir", again)...))
	stop := w.background(t, w.terrarium("server", "--data-dir", again, "--listen", elsewhere, "--external-address", "10.99.0.1")...)
	way := road.New(t, "0.0.0.0:16443", "https://"+elsewhere)
	w.says(t, time.Minute, "ok", w.garden("get", "--raw", "/readyz")...)
	up := time.Now()
	w.renewed(t, gone)
	back := time.Now()
	w.countLost(t, letters, gone)
	if diff := cmp.Diff(before, w.untouched(t)); diff != "" {
		t.Errorf("the loss of the garden touched the shoot (-before +after):\n%s", diff)
	}

	w.operate(t, "reconcile")
	w.eventually(t, 3*time.Minute, "the gardenlet reconciles the shoot", func() (bool, string) {
		now := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.status.lastOperation}{.metadata.annotations}")...)
		return !strings.Contains(now, before["last operation"]) && !strings.Contains(now, `"gardener.cloud/operation"`) && strings.Contains(now, "Succeeded"), now
	})
	after := w.untouched(t)
	delete(before, "last operation")
	delete(after, "last operation")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a reconciliation by the restored garden replaced something (-before +after):\n%s", diff)
	}
	t.Logf("the restored server was ready %s after the loss, and the gardenlet back %s later",
		up.Sub(gone).Round(time.Second/10), back.Sub(up).Round(time.Second/10))

	// The machine is there again, and the garden goes back to it.
	stop()
	way.Close()
	if err := os.Rename(again, data); err != nil {
		t.Fatal(err)
	}
	w.must(t, "scripts/playground", "garden")
	w.renewed(t, time.Now())
	answered()
}

// writeLetters writes to the garden, one object after the other, until some of them are saved, and returns when each was acknowledged.
func (w *world) writeLetters(t *testing.T) map[string]time.Time {
	t.Helper()
	letters := map[string]time.Time{}
	began := time.Now()
	w.eventually(t, 2*time.Minute, "what was written is saved", func() (bool, string) {
		name := fmt.Sprintf("letter-%d", len(letters))
		w.must(t, w.garden("-n", "garden", "create", "configmap", name)...)
		letters[name] = time.Now()
		var status struct {
			Snapshots struct{ Protected time.Time }
		}
		raw := w.must(t, w.garden("get", "--raw", "/appliance/status")...)
		if err := json.Unmarshal([]byte(raw), &status); err != nil {
			t.Fatal(err)
		}

		return status.Snapshots.Protected.After(began.Add(time.Second)), raw
	})
	for range 3 { // These may be lost.
		name := fmt.Sprintf("letter-%d", len(letters))
		w.must(t, w.garden("-n", "garden", "create", "configmap", name)...)
		letters[name] = time.Now()
	}

	return letters
}

// countLost looks for the letters, and at how old those were that are missing.
func (w *world) countLost(t *testing.T, letters map[string]time.Time, gone time.Time) {
	t.Helper()
	there := strings.Fields(w.must(t, w.garden("-n", "garden", "get", "configmaps", "-o", "jsonpath={.items[*].metadata.name}")...))
	found := map[string]bool{}
	for _, name := range there {
		found[name] = true
	}
	missing, oldest := 0, time.Duration(0)
	for name, at := range letters {
		if !found[name] {
			missing, oldest = missing+1, max(oldest, gone.Sub(at))
		}
	}
	t.Logf("%d of %d writes are missing, the oldest one was acknowledged %s before the loss", missing, len(letters), oldest.Round(time.Second/10))
	if missing == len(letters) || oldest > mostLost {
		t.Errorf("the restored garden lacks a write that was acknowledged %s before the loss, want at most %s", oldest, mostLost)
	}
}

// untouched is what stays the same of a shoot that nobody touches: its object, its pods in the seed, its nodes and its workload.
func (w *world) untouched(t *testing.T) map[string]string {
	t.Helper()
	const pods = `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}`

	return map[string]string{
		"shoot":          w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.uid} {.spec}")...),
		"last operation": w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.status.lastOperation.lastUpdateTime}")...),
		"control plane":  w.must(t, w.seed("-n", "shoot--meadow--"+shootName, "get", "pods", "-o", pods)...),
		"nodes":          w.must(t, w.shoot("get", "nodes", "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}`)...),
		"workload":       w.must(t, w.shoot("get", "pods", "-l", "app=hello", "-o", pods)...),
	}
}

// renewed waits until the gardenlet has renewed its lease after a time.
func (w *world) renewed(t *testing.T, after time.Time) {
	t.Helper()
	w.eventually(t, 2*time.Minute, "the gardenlet is back", func() (bool, string) {
		r := w.try(t, "", w.garden("-n", "gardener-system-seed-lease", "get", "lease", "local", "-o", "jsonpath={.spec.renewTime}")...)
		at, err := time.Parse(time.RFC3339Nano, r.stdout)

		return err == nil && at.After(after), r.all()
	})
}
