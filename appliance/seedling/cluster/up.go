// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// Names of the steps that are not the start of a part.
const (
	stepPrepare      = "preparations"
	stepCertificates = "certificates"
	stepFiles        = "configuration"
	stepMachine      = "network of the machine"
	stepImages       = "images"
	stepNode         = "node ready"
)

// Up brings the cluster up, or what of it does not run. It returns when pods can be made. When it fails,
// what was made stays for a look, and Down removes it.
func (c *Cluster) Up(ctx context.Context) error {
	began := c.Clock.Now()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := runSteps(ctx, c.Clock, c.Out, c.steps()); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; what was started goes on: bring the cluster up again, or take it down: %w", ctx.Err())
		}
		return err
	}
	fmt.Fprintf(c.Out, "The cluster is up after %.1fs: kubectl --kubeconfig %s get nodes\n", c.Clock.Since(began).Seconds(), c.config.AdminKubeconfig())
	return nil
}

func (c *Cluster) steps() []step {
	steps := []step{
		{name: stepCertificates, do: c.certificates},
		{name: stepFiles, after: []string{stepMachine}, do: c.files},
		{name: stepMachine, do: c.machine},
		{name: stepImages, after: []string{partRuntime}, do: c.importAll},
		{name: stepNode, after: []string{partKubelet, partControllerManager, partScheduler, partProxy, partAddons, stepImages}, do: c.nodeReady},
	}
	after := map[string][]string{
		partRuntime:           {stepFiles},
		partEtcd:              {stepFiles, stepCertificates},
		partAPIServer:         {partEtcd},
		partControllerManager: {partAPIServer},
		partScheduler:         {partAPIServer},
		partKubelet:           {partAPIServer, partRuntime},
		partProxy:             {partAPIServer},
		partAddons:            {partAPIServer},
	}
	for _, p := range c.parts() {
		steps = append(steps, step{name: p.name, after: after[p.name], do: func(ctx context.Context) (string, error) { return c.start(ctx, p) }})
	}
	return steps
}

// prepare looks whether the cluster can run here before anything is touched, and then claims the state folder.
func (c *Cluster) prepare(ctx context.Context) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	_, err := LoadConfig(c.config.StateDir)
	if errors.Is(err, ErrNoSeedling) {
		return c.config.save()
	}
	return err
}

func (c *Cluster) certificates(context.Context) (string, error) {
	return "", authority{config: c.config, now: c.Clock.Now()}.establish()
}

func (c *Cluster) files(context.Context) (string, error) {
	if err := c.writeFiles(); err != nil {
		return "", err
	}
	plugins, err := os.ReadDir(c.CNIDir)
	if err != nil {
		return "", fmt.Errorf("list network plugins: %w", err)
	}
	for _, plugin := range plugins {
		if err := place(filepath.Join(c.CNIDir, plugin.Name()), c.config.state("cni", "bin", plugin.Name()), 0o755); err != nil {
			return "", err
		}
	}
	return "", nil
}

// start starts a part, unless it runs, and waits until it does its work.
func (c *Cluster) start(ctx context.Context, p part) (string, error) {
	program := p.program
	if program == "" {
		program = c.Binary
	}
	record, started, err := c.table.Start(process.Spec{Name: p.name, Path: program, Args: p.args, Env: []string{c.config.mark()}})
	if err != nil {
		return "", err
	}
	last := errors.New("it was not asked yet")
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, p.patience, true, func(ctx context.Context) (bool, error) {
		if !record.Alive() {
			return false, errors.New("it has ended")
		}
		last = p.healthy(ctx)
		return last == nil, nil
	})
	if err != nil {
		return "", c.explain(p, err, last)
	}
	if !started {
		return "runs already", nil
	}
	return "", nil
}

// explain turns the failure of a part into what its operator needs to find out why.
func (c *Cluster) explain(p part, err, last error) error {
	if wait.Interrupted(err) && last != nil {
		err = fmt.Errorf("it is not healthy after %s: %w", p.patience, last)
	}
	lines, tailErr := c.table.Tail(p.name, 12)
	if tailErr != nil {
		return errors.Join(err, tailErr)
	}
	return fmt.Errorf("%w\nIts last words in %s:\n\t%s\nMend the cause and bring the cluster up again, or take it down; neither loses anything else",
		err, c.table.LogFile(p.name), strings.Join(lines, "\n\t"))
}

// machine changes what the machine itself has to have for the cluster.
func (c *Cluster) machine(ctx context.Context) (string, error) {
	journal, err := node.OpenJournal(c.config.state("machine.json"))
	if err != nil {
		return "", err
	}
	if err := journal.NoteAbsent(foreignFolders()...); err != nil {
		return "", err
	}
	node.LoadModules(ctx, "br_netfilter", "overlay")
	for _, setting := range settings() {
		if err := journal.Set(setting.name, setting.value); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	groups, err := node.FindCgroups()
	if err != nil {
		return "", err
	}
	if err := groups.Make(c.config.NodeName); err != nil {
		return "", err
	}
	if err := node.AddAddress(c.config.NodeIP); err != nil {
		return "", err
	}
	if err := node.AddRoute(c.config.ServiceCIDR, c.config.NodeIP); err != nil {
		return "", err
	}
	if err := node.AllowForwarding(ctx, c.config.Bridge); err != nil {
		return "", err
	}
	return "", node.Masquerade(ctx, node.Ranges{
		Pods: c.config.PodCIDR, Services: c.config.ServiceCIDR, LoadBalancers: c.config.LoadBalancerCIDR, Node: c.config.NodeIP, Bridge: c.config.Bridge,
	})
}

type setting struct{ name, value string }

// bridgeFilter is the setting without which a pod that asks a Service, and is answered by its neighbour on the
// bridge, does not recognise the answer.
const bridgeFilter = "net/bridge/bridge-nf-call-iptables"

// settings are the settings of the kernel that the cluster needs, and those that a kubelet changes by itself:
// when they are changed here first, there is a note of what they were.
func settings() []setting {
	return []setting{
		{"net/ipv4/ip_forward", "1"},
		{bridgeFilter, "1"},
		{"vm/overcommit_memory", "1"},
		{"vm/panic_on_oom", "0"},
		{"kernel/panic", "10"},
		{"kernel/panic_on_oops", "1"},
		{"kernel/keys/root_maxkeys", "1000000"},
		{"kernel/keys/root_maxbytes", "25000000"},
	}
}

// foreignFolders are those outside of the cluster's own that its parts make, because their names are fixed in them.
func foreignFolders() []string {
	return []string{"/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers", "/opt/cni", "/opt/containerd", "/var/lib/dockershim", "/run/flannel"}
}

// importAll takes every archive of the folder of images into the container runtime.
func (c *Cluster) importAll(ctx context.Context) (string, error) {
	archives, err := filepath.Glob(filepath.Join(c.ImagesDir, "*.tar"))
	if err != nil {
		return "", fmt.Errorf("list archives: %w", err)
	}
	if !slices.Contains(archives, images.ArchiveOf(c.ImagesDir, images.Pause)) {
		return "", fmt.Errorf("folder %q has no archive %s.tar, without which no pod starts: make it with \"seedling images build\"", c.ImagesDir, images.Pause)
	}
	imported, err := c.importArchives(ctx, archives)
	return fmt.Sprintf("%d imported, %d were there", imported, len(archives)-imported), err
}

// Load takes archives into the container runtime of a running cluster; what is there already is left out.
// It returns how many were new.
func (c *Cluster) Load(ctx context.Context, archives []string) (int, error) {
	return c.importArchives(ctx, archives)
}

// importArchives takes one archive after the other, the small ones first: they compete for the same processors
// and disk, and two with a layer in common would wait for each other.
func (c *Cluster) importArchives(ctx context.Context, archives []string) (int, error) {
	sizes := map[string]int64{}
	for _, archive := range archives {
		info, err := os.Stat(archive)
		if err != nil {
			return 0, fmt.Errorf("look at archive: %w", err)
		}
		sizes[archive] = info.Size()
	}
	archives = slices.SortedFunc(slices.Values(archives), func(a, b string) int { return cmp.Compare(sizes[a], sizes[b]) })
	count := 0
	err := c.withRuntime(func(runtime *node.Runtime) error {
		for _, archive := range archives {
			fresh, err := c.importArchive(ctx, runtime, archive)
			if err != nil {
				return err
			}
			if fresh {
				count++
			}
		}
		return nil
	})
	return count, err
}

func (c *Cluster) importArchive(ctx context.Context, runtime *node.Runtime, archive string) (bool, error) {
	contents, err := images.ReadArchive(archive)
	if err != nil {
		return false, err
	}
	missing := false
	for _, image := range contents {
		for _, name := range image.Names {
			has, err := runtime.Has(ctx, name, image.ConfigDigest)
			if err != nil {
				return false, err
			}
			missing = missing || !has
		}
	}
	if missing {
		if err := runtime.Import(ctx, archive); err != nil {
			return false, err
		}
	}
	return missing, c.keepForMachines(archive, contents)
}

// keepForMachines puts the archives that every machine of a shoot takes in where the machines see them.
func (c *Cluster) keepForMachines(archive string, contents []images.Content) error {
	for _, image := range contents {
		for _, name := range image.Names {
			for _, wanted := range []string{images.Pause, images.Seedling, images.Hello} {
				if strings.HasPrefix(name, images.Registry+"/"+wanted+":") {
					return place(archive, images.ArchiveOf(c.config.ImagesDir(), wanted), 0o644)
				}
			}
		}
	}
	return nil
}

// nodeReady waits until a pod could be made and would run.
func (c *Cluster) nodeReady(ctx context.Context) (string, error) {
	const patience = time.Minute
	client, err := c.kubeClient()
	if err != nil {
		return "", err
	}
	last := errors.New("it was not asked yet")
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = func() error {
			self, err := client.CoreV1().Nodes().Get(ctx, c.config.NodeName, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("get node: %w", err)
			}
			if err := c.usable(self); err != nil {
				return err
			}
			_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
			return err
		}()
		return last == nil, nil
	})
	if err != nil {
		return "", fmt.Errorf("not after %s: %w; the kubelet's log is %s", patience, last, c.table.LogFile(partKubelet))
	}
	return "", nil
}

// usable returns why pods cannot run on the node, or nil if they can.
func (c *Cluster) usable(self *corev1.Node) error {
	ready := slices.IndexFunc(self.Status.Conditions, func(condition corev1.NodeCondition) bool { return condition.Type == corev1.NodeReady })
	if ready < 0 {
		return errors.New("the node has not told its state yet")
	}
	if condition := self.Status.Conditions[ready]; condition.Status != corev1.ConditionTrue {
		return fmt.Errorf("the node is not ready: %s: %s", condition.Reason, condition.Message)
	}
	if len(self.Spec.Taints) > 0 {
		return fmt.Errorf("the node has the taint %q", self.Spec.Taints[0].ToString())
	}
	if self.Spec.PodCIDR != c.config.NodeCIDR.String() {
		return fmt.Errorf("the node was given the pod range %q instead of %q", self.Spec.PodCIDR, c.config.NodeCIDR)
	}
	return nil
}
