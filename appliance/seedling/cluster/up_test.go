// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// newCluster describes a cluster in a folder that does not exist yet.
func newCluster(t *testing.T, change func(*cluster.Options)) (*cluster.Cluster, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	config := cluster.NewConfig(dir)
	config.RunDir = filepath.Join(t.TempDir(), "run")
	options := cluster.Options{Config: config, Binary: "/nowhere/seedling", Clock: clocktesting.NewFakeClock(time.Unix(0, 0)), Out: io.Discard}
	if change != nil {
		change(&options)
	}
	return cluster.New(options), dir
}

func TestUpChecksFirst(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(t, func(o *cluster.Options) { o.ImagesDir, o.CNIDir = "/nowhere/images", "/nowhere/cni" })
	err := c.Up(t.Context())
	if !errors.Is(err, cluster.ErrCannotRun) {
		t.Fatalf("Up() = %v", err)
	}
	for _, want := range []string{`"/nowhere/images" with the images`, `"/nowhere/cni" with the network plugins`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Everything that is missing is named at once; not named is %q in:\n%v", want, err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("Nothing is made when it cannot work; %s is there", dir)
	}
}

// TestUpNeedsItsPorts: a program on all addresses of the machine is in the way of the API server, whose own address is not there yet.
func TestUpNeedsItsPorts(t *testing.T) {
	t.Parallel()
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	_, port, _ := net.SplitHostPort(other.Addr().String())
	c, _ := newCluster(t, func(o *cluster.Options) { o.Config.APIPort, _ = strconv.Atoi(port) })
	if err, want := c.Up(t.Context()), "the port "+port+" for kube-apiserver, which another program uses"; !errors.Is(err, cluster.ErrCannotRun) || !strings.Contains(err.Error(), want) {
		t.Errorf("Up() = %v, want %q", err, want)
	}
}

// TestClosedFolders looks at the folders above volumes and above the socket of etcd: a user who can enter them can exchange the
// data of an etcd, or speak to one.
func TestClosedFolders(t *testing.T) {
	t.Parallel()
	var config cluster.Config
	c, _ := newCluster(t, func(o *cluster.Options) { config = o.Config })
	folders := []string{config.VolumesDir(), filepath.Join(config.RunDir, "etcd")}
	if err := os.MkdirAll(folders[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("Only its owner enters %s, also if it was open before: got mode %o", folder, got)
		}
	}
}

func TestStatusOfNothing(t *testing.T) {
	t.Parallel()
	c, _ := newCluster(t, nil)
	status := c.Status(t.Context())
	if status.Well() {
		t.Errorf("A cluster that was not started is not well")
	}
	var got []string
	for _, part := range status.Parts {
		got = append(got, part.Name+": "+part.Message)
	}
	want := []string{
		"containerd: does not run", "etcd: does not run", "kube-apiserver: does not run", "kube-controller-manager: does not run",
		"kube-scheduler: does not run", "kubelet: does not run", "kube-proxy: does not run", "addons: does not run", "coredns: does not run",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The status lists each part, in the order in which they start (-want +got):\n%s", diff)
	}
}

func TestWell(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		status cluster.Status
		want   bool
	}{
		"all":     {"Parts and node have to be well.", cluster.Status{Parts: []cluster.PartStatus{{Healthy: true}}, Node: cluster.NodeStatus{Ready: true}}, true},
		"part":    {"One part that is not is enough.", cluster.Status{Parts: []cluster.PartStatus{{Healthy: true}, {}}, Node: cluster.NodeStatus{Ready: true}}, false},
		"no node": {"Without a node no pod runs.", cluster.Status{Parts: []cluster.PartStatus{{Healthy: true}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.status.Well(); got != tc.want {
				t.Errorf("%s\nWell() = %t", tc.reason, got)
			}
		})
	}
}

func TestExclusive(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var lock string
	c, dir := newCluster(t, func(o *cluster.Options) { o.Out, lock = &out, o.Config.RunDir+".lock" })
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	holder, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close() //nolint:errcheck // Only held.
	if err := unix.Flock(int(holder.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"Up":   func() error { return c.Up(t.Context()) },
		"Down": func() error { return c.Down(t.Context(), false) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "another command changes the cluster") || out.Len() > 0 {
			t.Errorf("Two commands do not change a cluster at the same time; %s() = %v and printed %q", name, err, out.String())
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("The one that came too late touches nothing: %v", err)
	}
}

func TestLockLeavesNothing(t *testing.T) {
	t.Parallel()
	var lock string
	c, _ := newCluster(t, func(o *cluster.Options) { lock = o.Config.RunDir + ".lock" })
	for range 2 {
		unlock, err := c.Lock()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Lock(); err == nil {
			t.Error("A lock is held by one")
		}
		unlock()
		if _, err := os.Stat(lock); err == nil {
			t.Error("The file of the lock is removed with the lock")
		}
	}
}
