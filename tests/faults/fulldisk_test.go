// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFullDisk has a server on a file system of 96 MiB, which another program fills. Changes are refused with the reason, reads go on,
// and when there is space again the server goes on by itself. All that was acknowledged is there, and nothing that was refused.
//
//nolint:paralleltest // It mounts a file system.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=96m"); err != nil {
		t.Fatalf("mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	data := filepath.Join(dir, "data")
	g := start(t, data)
	written := map[string]string{}
	write := func(ctx context.Context, name string) error {
		big := note(name, "1")
		big.Data["ballast"] = []byte(strings.Repeat("b", 200_000))
		err := g.clients[0].Create(ctx, big)
		if err == nil {
			written[name] = "1"
		}

		return err
	}
	for n := range 10 {
		if err := write(t.Context(), fmt.Sprintf("before-%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	var refused error
	for n := 0; refused == nil && n < 500; n++ {
		refused = write(t.Context(), fmt.Sprintf("full-%d", n))
	}
	t.Logf("%d objects, then: %v", len(written), refused)
	if refused == nil || !strings.Contains(refused.Error(), "space") && !strings.Contains(refused.Error(), "full") {
		t.Errorf("a change is refused because the disk is full: got %v", refused)
	}
	if err := g.clients[0].Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "before-0"}, note("", "")); err != nil {
		t.Errorf("reads go on: %v", err)
	}
	eventually(t, "the readiness says why", func(ctx context.Context) bool {
		return strings.Contains(g.raw(ctx, t, "/readyz?verbose"), "[-]terrarium/disk")
	})
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there is space again, and the server goes on", func(ctx context.Context) bool {
		return !apierrors.IsAlreadyExists(write(ctx, "after")) && written["after"] != ""
	})
	g.kill()
	g = start(t, data)
	if diff := cmp.Diff(written, g.notes(t.Context(), t)); diff != "" {
		t.Errorf("all that was acknowledged is there, and nothing that was refused (-want +got):\n%s", diff)
	}
	g.kill()
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // Nothing is lost.
	for chunk := make([]byte, 1<<16); ; {
		if _, err := file.Write(chunk); err != nil {
			return
		}
	}
}
