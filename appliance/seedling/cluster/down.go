// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/seedling/networkpolicy"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// grace is how long a part may take to end by itself.
const grace = 3 * time.Second

// Down removes the cluster: its pods, processes, mounts, network, kernel settings and files. With keepImages the images
// are kept, for a faster Up. If something cannot be removed, Down continues with the rest, keeps the files of the cluster,
// returns the error at the end, and can be called again.
func (c *Cluster) Down(ctx context.Context, keepImages bool) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	began := c.Clock.Now()
	elsewhere, err := c.inOtherNetwork()
	if err != nil {
		return err
	}
	err = c.remove(ctx, []step{
		{name: "control of the pods", do: c.ending(grace, partKubelet, partAddons, partProxy, partControllerManager, partScheduler)},
		{name: "pods", do: c.removePods},
		{name: "container runtime", do: c.ending(grace, partRuntime)},
		{name: "stray processes", do: c.endStray},
		{name: "control groups", do: c.removeGroups},
		{name: "API server and etcd", do: c.ending(0, partAPIServer, partEtcd)},
		{name: "mounts", do: c.unmount},
		{name: "network", do: func(ctx context.Context) (string, error) { return c.removeNetwork(ctx, elsewhere) }},
		{name: "files elsewhere", do: func(ctx context.Context) (string, error) { return c.removeTraces(ctx, elsewhere) }},
	}, step{name: "files", do: func(ctx context.Context) (string, error) { return c.removeFiles(ctx, keepImages) }})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "The cluster was removed in %.1fs\n", c.Clock.Since(began).Seconds())
	return err
}

// remove runs the steps in order, also if some of them fail. It runs the last step, which removes the files, only if all
// others succeeded: without the journal and the marker the rest could not be removed any more.
func (c *Cluster) remove(ctx context.Context, steps []step, last step) error {
	var failed []error
	for _, s := range append(steps, last) {
		if ctx.Err() != nil {
			failed = append(failed, fmt.Errorf("interrupted before the step %q: %w", s.name, ctx.Err()))
			break
		}
		if s.name == last.name && len(failed) > 0 {
			printStep(c.Out, s.name, "kept", 0)
			break
		}
		start := c.Clock.Now()
		note, err := s.do(ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("remove %s: %w", s.name, err))
			note = "failed"
		}
		printStep(c.Out, s.name, note, c.Clock.Since(start))
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("%w\nThe cluster is not completely removed: run \"seedling down\" again", err)
	}
	return nil
}

// ending returns a step that ends parts in parallel, and kills those that do not end in time.
func (c *Cluster) ending(patience time.Duration, names ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		type result struct {
			name  string
			ended bool
			err   error
		}
		results := make(chan result)
		for _, name := range names {
			go func() {
				ended, err := c.table.Stop(ctx, name, patience)
				results <- result{name, ended, err}
			}()
		}
		var ended []string
		var failed []error
		for range names {
			one := <-results
			if one.ended {
				ended = append(ended, one.name)
			}
			failed = append(failed, one.err)
		}
		if len(ended) == 0 {
			return "did not run", errors.Join(failed...)
		}
		slices.Sort(ended)
		return "ended " + strings.Join(ended, ", "), errors.Join(failed...)
	}
}

// removePods removes the pods with the container runtime. If it does not run, later steps find the processes and mounts of
// the pods.
func (c *Cluster) removePods(ctx context.Context) (string, error) {
	_, alive, err := c.table.Find(partRuntime)
	if err != nil || !alive {
		return "the container runtime does not run", err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	count := 0
	err = c.withRuntime(func(runtime *node.Runtime) error {
		count, err = runtime.RemoveSandboxes(ctx)
		return err
	})
	if err != nil {
		// This is not fatal, because later steps find what a pod leaves behind.
		return fmt.Sprintf("%d, with errors: %v", count, err), nil
	}
	return fmt.Sprintf("%d removed", count), nil
}

// endStray ends processes that have the mark of the cluster and no record: shims of the container runtime, and parts whose
// starting command was interrupted before it wrote the record.
func (c *Cluster) endStray(ctx context.Context) (string, error) {
	known := map[int]bool{}
	for _, name := range []string{partAPIServer, partEtcd} {
		if record, alive, err := c.table.Find(name); err == nil && alive {
			known[record.PID] = true
		}
	}
	strays, err := process.WithEnvironment(c.config.mark())
	if err != nil {
		return "", err
	}
	count := 0
	var failed []error
	for _, stray := range strays {
		if known[stray.PID] {
			continue
		}
		count++
		failed = append(failed, stray.End(ctx, 0))
	}
	return fmt.Sprintf("%d ended", count), errors.Join(failed...)
}

func (c *Cluster) removeGroups(ctx context.Context) (string, error) {
	groups, err := node.FindCgroups()
	if err != nil {
		return "", err
	}
	killed, removed, err := groups.Remove(ctx, c.config.Group)
	return fmt.Sprintf("%d removed, %d processes killed", removed, killed), err
}

func (c *Cluster) unmount(context.Context) (string, error) {
	count, err := node.Unmount(c.config.StateDir, c.config.RunDir)
	return fmt.Sprintf("%d removed", count), err
}

func (c *Cluster) removeNetwork(ctx context.Context, elsewhere bool) (string, error) {
	if elsewhere {
		return "skipped: it is in another network namespace", nil
	}
	var removed []string
	var failed []error
	bridge, err := node.RemoveLink(c.config.Bridge)
	if bridge {
		removed = append(removed, "device "+c.config.Bridge)
	}
	failed = append(failed, err)
	tables, err := node.RemoveTables(ctx, node.Table, networkpolicy.Table, "kube-proxy", "cni_hostport")
	for _, table := range tables {
		removed = append(removed, "table "+table)
	}
	failed = append(failed, err)
	rules, err := node.ForbidForwarding(ctx, c.config.Bridge)
	if rules > 0 {
		removed = append(removed, fmt.Sprintf("%d rules of iptables", rules))
	}
	failed = append(failed, err)
	route, err := node.RemoveRoute(c.config.ServiceCIDR)
	if route {
		removed = append(removed, "route to "+c.config.ServiceCIDR.String())
	}
	failed = append(failed, err)
	addresses, err := node.Addresses(c.config.LoadBalancerCIDR)
	failed = append(failed, err)
	for _, address := range append(addresses, c.config.NodeIP) {
		failed = append(failed, node.RemoveAddress(address))
		removed = append(removed, "address "+address.String())
	}
	return strings.Join(removed, ", "), errors.Join(failed...)
}

// removeTraces undoes changes outside of the folders of the cluster.
func (c *Cluster) removeTraces(ctx context.Context, elsewhere bool) (string, error) {
	files, err := removeMatching(c.ownTrace, "/var/log/containers/*", networkResults+c.config.Group+"-*-*", "/var/lib/kubelet/device-plugins/*")
	failed := []error{err}
	sockets, err := node.RemoveDeadSockets(ctx, "/run/containerd/s") // of shims that had to be killed
	failed = append(failed, err)
	note := fmt.Sprintf("%d files", len(files)+len(sockets))
	journal, err := node.OpenJournal(c.config.state("machine.json"))
	if errors.Is(err, node.ErrUnreadableJournal) {
		// This is not fatal, because the cluster could otherwise not be removed at all.
		note, err = fmt.Sprintf("%s, but kernel settings stay as they are: %v", note, err), nil
	}
	if err != nil {
		return note, errors.Join(append(failed, err)...)
	}
	folders, err := journal.RemoveAbsent()
	failed = append(failed, err)
	settings, err := journal.Restore(!elsewhere)
	failed = append(failed, err)
	return strings.Join(slices.Concat([]string{note}, folders, settings), ", "), errors.Join(failed...)
}

// networkResults is where network plugins note what they did, in files NETWORK-CONTAINER-DEVICE.
const networkResults = "/var/lib/cni/results/"

// ownTrace reports whether a file in a shared folder belongs to this cluster: a link to one of its files, or a file that
// only this cluster can have created.
func (c *Cluster) ownTrace(path string) bool {
	if file, is := strings.CutPrefix(path, networkResults+c.config.Group+"-"); is {
		// The network of another cluster may have a name that begins like that of this one.
		container, _, _ := strings.Cut(file, "-")
		_, err := hex.DecodeString(container)
		return err == nil && len(container) == sha256.Size*2
	}
	target, err := os.Readlink(path)
	if err != nil {
		return !strings.HasPrefix(path, "/var/log/containers/")
	}
	return strings.HasPrefix(target, c.config.StateDir+"/")
}

func removeMatching(own func(string) bool, patterns ...string) ([]string, error) {
	var removed []string
	var failed []error
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		failed = append(failed, err)
		for _, path := range paths {
			if own(path) {
				failed = append(failed, os.Remove(path))
				removed = append(removed, path)
			}
		}
	}
	return removed, errors.Join(failed...)
}

// removeFiles removes the folders of the cluster. It refuses as long as something is mounted in them, because it would
// delete the mounted files. The marker goes last, so that Down can be called again after an interruption.
func (c *Cluster) removeFiles(_ context.Context, keepImages bool) (string, error) {
	mounts, err := node.Mounts(c.config.StateDir, c.config.RunDir)
	if err != nil {
		return "", err
	}
	if len(mounts) > 0 {
		return "", fmt.Errorf("%q is still mounted, and its files would be deleted as well", mounts[0])
	}
	if err := os.RemoveAll(c.config.RunDir); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(c.config.StateDir)
	failed := []error{err}
	for _, entry := range entries {
		if entry.Name() == markerFile || keepImages && entry.Name() == filepath.Base(c.runtimePaths().Root) {
			continue
		}
		failed = append(failed, os.RemoveAll(c.config.state(entry.Name())))
	}
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	if keepImages {
		return c.config.RunDir + ", " + c.config.StateDir + " except the images", nil
	}
	return c.config.RunDir + ", " + c.config.StateDir, os.RemoveAll(c.config.StateDir)
}
