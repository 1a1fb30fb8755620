// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	nodePoll = time.Second
	// nodesTimeout is how long nodes may take to become ready once there are machines.
	nodesTimeout = 5 * time.Minute
)

// workers are the machines of a shoot and the nodes that they become.
type workers struct {
	ground

	secrets authorities
	profile *gardencorev1beta1.CloudProfile
	values  values
}

func (w workers) fragment(found remains) fragment {
	none := !w.facts.Workers()
	return fragment{
		deploy: append(w.ask().deploy(none, "controlplane", "system-resources", "dns-internal"), flow.Task{
			ID: "nodes-ready", Title: "Waiting for the nodes", Reads: []flow.Slot{w.values.shootClient}, Timeout: nodesTimeout, Skip: none, Do: w.awaitNodes,
			After: after("worker-wait", "network-wait", "kube-proxy", "kcm-wait", "scheduler-wait", "controlplane-wait"),
		}),
		destroy: w.ask().destroy(!found.namespace, "clean-kubernetes-resources", "cloudprovider-secret"),
	}
}

func (w workers) ask() ask[*gardenextensionsv1alpha1.Worker] {
	return ask[*gardenextensionsv1alpha1.Worker]{
		ground: w.ground, id: "worker", title: "the workers", names: w.once, reads: []flow.Slot{w.values.infrastructure, w.values.userData},
		fill: func(ctx context.Context, obj *gardenextensionsv1alpha1.Worker) error {
			spec := &w.facts.Shoot.Spec
			obj.Spec.Type, obj.Spec.Region, obj.Spec.SecretRef = spec.Provider.Type, spec.Region, w.providerSecret()
			obj.Spec.InfrastructureProviderStatus = w.values.infrastructure.Get(ctx).Status.ProviderStatus
			obj.Spec.Pools = Pools(w.facts.Shoot, w.profile, w.values.userData.Get(ctx))
			var err error
			obj.Spec.SSHPublicKey, err = w.secrets.sshPublicKey(ctx)
			return err
		},
	}
}

// awaitNodes waits until every pool has its nodes and all of them are ready.
func (w workers) awaitNodes(ctx context.Context) error {
	return flow.Until(ctx, w.clock, flow.Every(nodePoll), w.nodeTrouble)
}

func (w workers) nodeTrouble(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := w.values.shootClient.Get(ctx).List(ctx, nodes); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	if reasons := UnreadyNodes(w.facts.Shoot.Spec.Provider.Workers, nodes.Items); len(reasons) > 0 {
		return errors.New(strings.Join(reasons, "; "))
	}
	return nil
}

// UnreadyNodes gives a sentence for each pool with too few nodes and each node that is not ready.
func UnreadyNodes(pools []gardencorev1beta1.Worker, nodes []corev1.Node) []string {
	var reasons []string
	count := map[string]int32{}
	for i := range nodes {
		node := &nodes[i]
		count[node.Labels[gardencorev1beta1.LabelWorkerPool]]++
		if reason, ready := nodeReady(node); !ready {
			reasons = append(reasons, fmt.Sprintf("node %q is not ready: %s", node.Name, reason))
		}
	}
	for _, pool := range pools {
		if have := count[pool.Name]; have < pool.Minimum {
			reasons = append(reasons, fmt.Sprintf("pool %q has %d of at least %d nodes", pool.Name, have, pool.Minimum))
		}
	}
	return reasons
}

func nodeReady(node *corev1.Node) (string, bool) {
	for _, c := range node.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			return "", true
		}
		return c.Message, false
	}
	return "it has not reported yet", false
}
