// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// check is the longest time until what others changed on the machine is repaired, retry the pause after an error.
	check = 2 * time.Minute
	retry = 10 * time.Second
	// patience is how long a kubelet may take to be healthy after a change, poll is the time between two looks.
	patience = time.Minute
	poll     = time.Second
)

var errNoConfiguration = errors.New("the secret has no configuration")

// Agent keeps one machine.
type Agent struct {
	// Kubelet acts as the kubelet of the node, Own as the agent.
	Kubelet, Own kubernetes.Interface
	// Node is the name of the Node, Secret that of the Secret with its configuration.
	Node, Secret string
	// Kubeconfig is the place of the kubeconfig of the kubelet on the machine.
	Kubeconfig string
	// Machine is where the agent runs.
	Machine *Machine
	// Healthy asks the kubelet how it is.
	Healthy func(ctx context.Context) error
	// OSUpdateTimeout is how long the command that updates the operating system may take.
	OSUpdateTimeout time.Duration
	// Clock tells the time.
	Clock clock.WithTicker

	// seen is the checksum of the configuration that is to be applied, since is when it was first seen.
	seen  string
	since time.Time
	// held is set while the node is not ready for an update in place.
	held bool
}

// Run keeps the machine until ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.beat(ctx) })
	group.Go(func() error { return a.keep(ctx) })
	return group.Wait() //nolint:wrapcheck // They are the agent's own.
}

// keep makes a pass whenever the configuration changes, and from time to time.
func (a *Agent) keep(ctx context.Context) error {
	log, said := logr.FromContextOrDiscard(ctx), ""
	for ctx.Err() == nil {
		version, wait, err := a.Pass(ctx)
		switch {
		case err == nil:
			said = ""
		case ctx.Err() == nil && err.Error() != said:
			said = err.Error()
			log.Info("The machine is not as configured yet", "reason", said)
		}
		a.await(ctx, version, wait)
	}
	return nil
}

// Pass looks once at configuration and machine. It returns the version of the Secret, and how long to wait for another one before the next pass.
func (a *Agent) Pass(ctx context.Context) (version string, wait time.Duration, err error) {
	secret, err := a.Own.CoreV1().Secrets(metav1.NamespaceSystem).Get(ctx, a.Secret, metav1.GetOptions{})
	if err != nil {
		return "", retry, fmt.Errorf("get the configuration: %w", err)
	}
	version = secret.ResourceVersion
	node, err := a.Kubelet.CoreV1().Nodes().Get(ctx, a.Node, metav1.GetOptions{})
	if err != nil {
		return version, retry, fmt.Errorf("get node %q: %w", a.Node, err)
	}
	data := secret.Data[gardencorev1beta1.DataKeyNodeAgentConfig]
	if len(data) == 0 {
		return version, check, fmt.Errorf("%w under the key %q", errNoConfiguration, gardencorev1beta1.DataKeyNodeAgentConfig)
	}
	configuration, err := Decode(data)
	if err != nil {
		return version, check, err
	}
	checksum := Checksum(data)
	updates := outdated(node, configuration)
	if a.held = updates && !readyForUpdate(node); a.held {
		return version, check, a.hold(ctx, configuration)
	}
	carryOut := a.apply
	if updates {
		carryOut = func(ctx context.Context, c Configuration) error { return a.update(ctx, node, c) }
	} else if left, err := a.delay(node, configuration, turn{checksum: checksum, longest: MaxDelay(secret.Annotations)}); err != nil {
		return version, retry, err
	} else if left > 0 {
		return version, min(left, check), nil
	}
	if err := carryOut(ctx, configuration); err != nil {
		return version, retry, err
	}
	if err := errors.Join(a.remember(configuration), a.report(ctx, node, checksum, configuration)); err != nil {
		return version, retry, err
	}
	return version, check, nil
}

// turn is what decides when it is the turn of a node.
type turn struct {
	checksum string
	longest  time.Duration
}

// delay is how much longer to wait with a configuration. Nothing waits that changes nothing, or that is the first one of a node. A
// node in the middle of a change had its turn: neither the rest of it nor what may set it right waits.
func (a *Agent) delay(node *corev1.Node, c Configuration, t turn) (time.Duration, error) {
	applied := node.Annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData]
	if applied == "" || applied == t.checksum {
		return 0, nil
	}
	if unfinished, err := a.Machine.Unfinished(); unfinished || err != nil {
		return 0, err
	}
	if settled, err := a.Machine.Settled(c); settled || err != nil {
		return 0, err
	}
	if a.seen != t.checksum {
		a.seen, a.since = t.checksum, a.Clock.Now()
	}
	return Delay(a.Node, t.checksum, t.longest) - a.Clock.Since(a.since), nil
}

// apply makes the machine as configured, and waits until its kubelet is healthy: a node whose kubelet does not run with a setting has not
// applied it.
func (a *Agent) apply(ctx context.Context, configuration Configuration) error {
	if err := a.renewCredentials(ctx, configuration); err != nil {
		return err
	}
	if err := a.Machine.Apply(ctx, configuration); err != nil {
		return fmt.Errorf("apply the configuration: %w", err)
	}
	until := a.Clock.Now().Add(patience)
	for {
		err := a.Healthy(ctx)
		if err == nil {
			return nil
		}
		if !a.Clock.Now().Before(until) {
			return fmt.Errorf("the configuration is applied, and the kubelet is not healthy: %w", err)
		}
		if err := a.pause(ctx, poll); err != nil {
			return err
		}
	}
}

// await returns when the Secret has changed, the node has become ready for an update that is waited for, or the time is over.
func (a *Agent) await(ctx context.Context, version string, wait time.Duration) {
	timer := a.Clock.NewTimer(wait)
	defer timer.Stop()
	changes, end := a.watchSecret(ctx, version)
	defer end()
	nodes, endNodes := a.watchNode(ctx)
	defer endNodes()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
			return
		case change, open := <-changes:
			if open && (change.Type == watch.Added || change.Type == watch.Modified) {
				return
			}
			if !open || change.Type == watch.Error {
				changes = nil // What is missed now is seen when the time is over.
			}
		case change, open := <-nodes:
			if node, is := change.Object.(*corev1.Node); is && readyForUpdate(node) {
				return
			}
			if !open || change.Type == watch.Error {
				nodes = nil
			}
		}
	}
}

func (a *Agent) watchSecret(ctx context.Context, version string) (<-chan watch.Event, func()) {
	if version == "" {
		return nil, func() {}
	}
	return events(a.Own.CoreV1().Secrets(metav1.NamespaceSystem).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, a.Secret).String(), ResourceVersion: version,
	}))
}

// watchNode watches the node while its configuration waits.
func (a *Agent) watchNode(ctx context.Context) (<-chan watch.Event, func()) {
	if !a.held {
		return nil, func() {}
	}
	return events(a.Kubelet.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, a.Node).String()}))
}

func events(watcher watch.Interface, err error) (<-chan watch.Event, func()) {
	if err != nil {
		return nil, func() {}
	}
	return watcher.ResultChan(), watcher.Stop
}

func (a *Agent) pause(ctx context.Context, period time.Duration) error {
	timer := a.Clock.NewTimer(period)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // It is the caller's own.
	case <-timer.C():
		return nil
	}
}
