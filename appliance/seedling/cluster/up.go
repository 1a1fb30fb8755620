// SPDX-License-Identifier: Apache-2.0

package cluster

import (
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

	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Names of the steps that do not start a part.
const (
	stepPrepare      = "preparations"
	stepCertificates = "certificates"
	stepFiles        = "configuration"
	stepMachine      = "network of the machine"
	stepImages       = "images"
	stepNode         = "node ready"
	stepDNS          = "cluster DNS"
)

// Up starts the cluster, or the parts of it that do not run. It returns when pods can be created. After a failure
// everything is kept for inspection, and Down removes it.
func (c *Cluster) Up(ctx context.Context) error {
	began := c.Clock.Now()
	unlock, err := c.lock()
	if errors.Is(err, fs.ErrPermission) {
		return errors.Join(c.check(ctx), err) // the check says what is missing
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if err := runSteps(ctx, c.Clock, c.Out, c.steps()); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; started parts continue to run: run \"seedling up\" again, or \"seedling down\": %w", ctx.Err())
		}
		return err
	}
	_, err = fmt.Fprintf(c.Out, "The cluster is up after %.1fs: kubectl --kubeconfig %s get nodes\n", c.Clock.Since(began).Seconds(), c.config.AdminKubeconfig())
	return err
}

func (c *Cluster) steps() []step {
	steps := []step{
		{name: stepCertificates, do: c.certificates},
		{name: stepFiles, after: []flow.ID{stepMachine}, do: c.files},
		{name: stepMachine, do: c.machine},
		{name: stepImages, after: []flow.ID{partRuntime}, do: c.importAll},
		{name: stepNode, after: []flow.ID{partKubelet, partControllerManager, partScheduler, partProxy, partAddons, partDNS, stepImages}, do: c.nodeReady},
		{name: stepDNS, after: []flow.ID{partAPIServer}, do: c.publishDNS},
	}
	after := map[string][]flow.ID{
		partRuntime:           {stepFiles},
		partEtcd:              {stepFiles, stepCertificates},
		partAPIServer:         {partEtcd},
		partControllerManager: {partAPIServer},
		partScheduler:         {partAPIServer},
		partKubelet:           {partAPIServer, partRuntime},
		partProxy:             {partAPIServer},
		partAddons:            {partAPIServer},
		partDNS:               {stepDNS},
	}
	for _, p := range c.parts() {
		steps = append(steps, step{name: flow.ID(p.name), after: after[p.name], do: func(ctx context.Context) (string, error) { return c.start(ctx, p) }})
	}
	return steps
}

// prepare checks whether the cluster can run here before anything is changed, and then creates the state folder.
func (c *Cluster) prepare(ctx context.Context) error {
	if _, err := c.inOtherNetwork(); err != nil {
		return err
	}
	if err := c.endUnrecorded(ctx); err != nil {
		return err
	}
	if err := c.check(ctx); err != nil {
		return err
	}
	_, err := LoadConfig(c.config.StateDir)
	if errors.Is(err, ErrNoSeedling) {
		err = c.config.save()
	}
	if err != nil {
		return err
	}
	return c.config.makeRunDir()
}

func (c *Cluster) certificates(context.Context) (string, error) {
	return "", c.establish()
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

// start starts a part unless it runs, and waits until it is healthy.
func (c *Cluster) start(ctx context.Context, p part) (string, error) {
	program := p.program
	if program == "" {
		program = c.Binary
	}
	record, started, err := c.table.Start(process.Spec{Name: p.name, Path: program, Args: p.args, Env: c.environment()})
	if err != nil {
		return "", err
	}
	last := errors.New("not checked yet")
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, p.patience, true, func(ctx context.Context) (bool, error) {
		if !record.Alive() {
			return false, errors.New("it has ended")
		}
		last = p.healthy(ctx)
		return last == nil, nil
	})
	if ctx.Err() != nil {
		return "", ctx.Err() // not a failure of this part
	}
	if err == nil && !record.Alive() {
		err = errors.New("it has ended, and another process answers at its address")
	}
	if err != nil {
		return "", c.explain(p, err, last)
	}
	if !started {
		return "runs already", nil
	}
	return "", nil
}

// explain adds the last log lines of a part to its error.
func (c *Cluster) explain(p part, err, last error) error {
	if wait.Interrupted(err) && last != nil {
		err = fmt.Errorf("it is not healthy after %s: %w", p.patience, last)
	}
	lines, tailErr := c.table.Tail(p.name, 12)
	if tailErr != nil {
		return errors.Join(err, tailErr)
	}
	return fmt.Errorf("%w\nLast lines of its log %s:\n\t%s\nFix the cause and run \"seedling up\" again, or remove the cluster with \"seedling down\"",
		err, c.table.LogFile(p.name), strings.Join(lines, "\n\t"))
}

// nodeReady waits until pods can be created and run.
func (c *Cluster) nodeReady(ctx context.Context) (string, error) {
	const patience = time.Minute
	client, err := c.kubeClient()
	if err != nil {
		return "", err
	}
	last := errors.New("not checked yet")
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
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("not ready after %s: %w; the log of the kubelet is %s", patience, last, c.table.LogFile(partKubelet))
	}
	return "", nil
}

// usable returns why pods cannot run on the node, or nil if they can.
func (c *Cluster) usable(self *corev1.Node) error {
	ready := slices.IndexFunc(self.Status.Conditions, func(condition corev1.NodeCondition) bool { return condition.Type == corev1.NodeReady })
	if ready < 0 {
		return errors.New("the node has not reported its state yet")
	}
	if condition := self.Status.Conditions[ready]; condition.Status != corev1.ConditionTrue {
		return fmt.Errorf("the node is not ready: %s: %s", condition.Reason, condition.Message)
	}
	if len(self.Spec.Taints) > 0 {
		return fmt.Errorf("the node has the taint %q", self.Spec.Taints[0].ToString())
	}
	if self.Spec.PodCIDR != c.config.NodeCIDR.String() {
		return fmt.Errorf("the node has the pod range %q instead of %q", self.Spec.PodCIDR, c.config.NodeCIDR)
	}
	return nil
}
