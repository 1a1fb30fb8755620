// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// agentGrace is how long the agent of a node may take to start, to be heard of, and to apply a configuration when it is its turn.
const agentGrace = 2 * time.Minute

// Agents are what the agents of nodes are to apply, and what is heard of them.
type Agents struct {
	// Kept are the Secrets with configurations, of which only metadata are read.
	Kept []metav1.PartialObjectMetadata
	// Leases are those that agents renew, among others.
	Leases []coordinationv1.Lease
	// Err is set if they could not be listed.
	Err error
	// Now is the time of the look.
	Now time.Time
}

// agentsOf reads from a shoot what its agents are to do and when they were last heard of. Without a node that has an agent nothing is read.
func agentsOf(ctx context.Context, access client.Reader, nodes []corev1.Node, now time.Time) Agents {
	if !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Labels[gardencorev1beta1.LabelWorkerNodeAgentSecretName] != "" }) {
		return Agents{}
	}
	secrets, leases := &metav1.PartialObjectMetadataList{}, &coordinationv1.LeaseList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	ours := client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleOperatingSystemConfig}
	if err := access.List(ctx, secrets, client.InNamespace(metav1.NamespaceSystem), ours); err != nil {
		return Agents{Err: fmt.Errorf("list configurations of machines: %w", err)}
	}
	if err := access.List(ctx, leases, client.InNamespace(metav1.NamespaceSystem)); err != nil {
		return Agents{Err: fmt.Errorf("list leases of agents: %w", err)}
	}
	return Agents{Kept: secrets.Items, Leases: leases.Items, Now: now}
}

// judgeAgents finds a node that has not applied the configuration of its pool although it had its turn, or whose agent is silent. A node that
// follows a configuration that there is not any more is being replaced, and one from before there were agents follows none (GLET-CARE-13).
func judgeAgents(c gardencorev1beta1.Condition, a Agents, nodes []corev1.Node) (gardencorev1beta1.Condition, bool) {
	if a.Err != nil {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError, "The agents of the nodes could not be checked: "+a.Err.Error()
		return c, true
	}
	for i := range nodes {
		node := &nodes[i]
		secret := a.keptBy(node)
		if secret == nil || a.Now.Sub(node.CreationTimestamp.Time) < agentGrace {
			continue
		}
		pool := node.Labels[gardencorev1beta1.LabelWorkerPool]
		wanted, applied := secret.Annotations[gardencorev1beta1.AnnotationChecksumDataScript], node.Annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData]
		if due := changed(secret).Add(nodeagent.MaxDelay(secret.Annotations) + agentGrace); wanted != applied && a.Now.After(due) {
			return bad(c, gardencorev1beta1.ReasonOperatingSystemConfigOutdated, fmt.Sprintf("Node %q of pool %q: it has not applied the configuration of its pool", node.Name, pool)), true
		}
		if a.silent(node.Name) {
			return bad(c, gardencorev1beta1.ReasonNodeAgentUnhealthy, fmt.Sprintf("Node %q of pool %q: its agent is silent", node.Name, pool)), true
		}
	}
	return c, false
}

// settled returns the nodes without those of pools that are still to be updated in place. They have another configuration until it is their turn,
// and nobody knows when their owner selects them.
func settled(shoot *gardencorev1beta1.Shoot, nodes []corev1.Node) []corev1.Node {
	if shoot.Status.InPlaceUpdates == nil {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool {
		return query.UpdatesInPlace(shoot, n.Labels[gardencorev1beta1.LabelWorkerPool])
	})
}

// keptBy is the configuration that a node follows.
func (a Agents) keptBy(node *corev1.Node) *metav1.PartialObjectMetadata {
	for i := range a.Kept {
		if a.Kept[i].Name == node.Labels[gardencorev1beta1.LabelWorkerNodeAgentSecretName] {
			return &a.Kept[i]
		}
	}
	return nil
}

// changed is when somebody last wrote an object.
func changed(secret *metav1.PartialObjectMetadata) time.Time {
	last := secret.CreationTimestamp.Time
	for _, entry := range secret.ManagedFields {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

func (a Agents) silent(node string) bool {
	for i := range a.Leases {
		if a.Leases[i].Name == gardencorev1beta1.LeasePrefixNodeAgent+node {
			return a.Now.Sub(ptr.Deref(a.Leases[i].Spec.RenewTime, metav1.MicroTime{}).Time) > agentGrace
		}
	}
	return true
}
