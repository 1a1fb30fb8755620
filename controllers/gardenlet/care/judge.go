// SPDX-License-Identifier: Apache-2.0

package care

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
)

// Pardon makes a bad finding Progressing while an operation is under way that explains it.
func Pardon(shoot *gardencorev1beta1.Shoot, found gardencorev1beta1.ConditionStatus) gardencorev1beta1.ConditionStatus {
	if found != gardencorev1beta1.ConditionFalse {
		return found
	}
	last := shoot.Status.LastOperation
	if last == nil {
		return gardencorev1beta1.ConditionProgressing
	}
	unfinished := last.State != gardencorev1beta1.LastOperationStateSucceeded
	comingOrGoing := last.Type == gardencorev1beta1.LastOperationTypeCreate || last.Type == gardencorev1beta1.LastOperationTypeDelete
	underWay := last.State == gardencorev1beta1.LastOperationStateProcessing && len(shoot.Status.LastErrors) == 0
	if (comingOrGoing && unfinished) || underWay {
		return gardencorev1beta1.ConditionProgressing
	}
	return found
}

// JudgeAPIServer judges an answer to /healthz.
func JudgeAPIServer(a Answer) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeAPIServerAvailable}
	switch {
	case a.Err != nil:
		return bad(c, gardencorev1beta1.ReasonHealthzRequestError, "The request for /healthz got no answer: "+a.Err.Error())
	case a.Unusable != nil:
		return bad(c, gardencorev1beta1.ReasonAPIServerDown, "The API server cannot be asked: "+a.Unusable.Error())
	case a.Status == 0:
		return bad(c, gardencorev1beta1.ReasonAPIServerDown, "There is no access to the API server")
	case !ok(a.Status):
		return bad(c, gardencorev1beta1.ReasonHealthzRequestFailed, fmt.Sprintf("The request for /healthz was answered with status %d", a.Status))
	default:
		return good(c, gardencorev1beta1.ReasonHealthzRequestSucceeded, "The API server answers")
	}
}

// JudgeControlPlane judges, in this order, what extensions report, the components of the control plane, all other deployments in
// its namespace, and the managed resources with objects there.
func JudgeControlPlane(shoot *gardencorev1beta1.Shoot, w World) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeControlPlaneHealthy}
	if reported, found := reports.Judge(c, w.Reports); found {
		return reported
	}
	known := facts.Shoot{Shoot: shoot, Seed: w.Seed, Namespace: shoot.Status.TechnicalID}
	for _, part := range slices.Concat(lists.ControlPlane(), lists.Machines(), lists.Scaling(), lists.Sizing()) {
		if part.Care.Condition != c.Type || !part.IsWanted(known) {
			continue
		}
		kind := string(part.Care.Workload)
		workload := w.workload(part.Care.Workload, string(part.Name))
		if workload == nil {
			return bad(c, kind+"Missing", fmt.Sprintf("%s %q does not exist", kind, part.Name))
		}
		if healthy, reason := deploy.Healthy(workload); !healthy {
			return bad(c, kind+"Unhealthy", fmt.Sprintf("%s %q is not healthy: %s", kind, part.Name, reason))
		}
	}
	for i := range w.Deployments {
		if healthy, reason := deploy.Healthy(&w.Deployments[i]); !healthy {
			return bad(c, gardencorev1beta1.ReasonDeploymentUnhealthy, fmt.Sprintf("Deployment %q is not healthy: %s", w.Deployments[i].Name, reason))
		}
	}
	if found, is := judgeManaged(c, w); is {
		return found
	}
	return good(c, gardencorev1beta1.ReasonControlPlaneRunning, "All components of the control plane are healthy")
}

// workload returns the workload of that sort and name, or nil.
func (w World) workload(sort component.Workload, name string) client.Object {
	if sort == component.WorkloadEtcd {
		if i := slices.IndexFunc(w.StatefulSets, func(s appsv1.StatefulSet) bool { return s.Name == name }); i >= 0 {
			return &w.StatefulSets[i]
		}
		return nil
	}
	if i := slices.IndexFunc(w.Deployments, func(d appsv1.Deployment) bool { return d.Name == name }); i >= 0 {
		return &w.Deployments[i]
	}
	return nil
}

// JudgeNodes judges, in this order, what extensions report, each node, whether every pool has enough of them, whether they have applied the
// configuration of their pool, whether as many nodes are ready as machines are wanted, and whether their kubelets are heard of.
func JudgeNodes(shoot *gardencorev1beta1.Shoot, w World) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeEveryNodeReady}
	if !ok(w.API.Status) {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonAPIServerDown, unreachable(shoot)
		return c
	}
	if w.NodesErr != nil {
		c.Status, c.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError
		c.Message = "The nodes could not be checked: " + w.NodesErr.Error()
		return c
	}
	if reported, found := reports.Judge(c, w.Reports); found {
		return reported
	}
	if ill, found := judgeEach(c, shoot, w.Nodes, w.Machines.leaving()); found {
		return ill
	}
	count := map[string]int32{}
	for i := range w.Nodes {
		count[w.Nodes[i].Labels[gardencorev1beta1.LabelWorkerPool]]++
	}
	for _, pool := range shoot.Spec.Provider.Workers {
		if count[pool.Name] < pool.Minimum {
			message := fmt.Sprintf("Pool %q has %d nodes and needs at least %d", pool.Name, count[pool.Name], pool.Minimum)
			if why, found := judgeMachines(c, w.Machines, w.Nodes); found {
				message += ". " + why.Message
			}
			return bad(c, gardencorev1beta1.ReasonMissingNodes, message)
		}
	}
	if behind, found := judgeAgents(c, w.Agents, settled(shoot, w.Nodes)); found {
		return behind
	}
	if scaling, found := judgeMachines(c, w.Machines, w.Nodes); found {
		return scaling
	}
	if probed(w.Seed) {
		if silent, found := judgeKubelets(c, w.Kubelets, w.Nodes); found {
			return silent
		}
	}
	return good(c, gardencorev1beta1.ReasonEveryNodeReady, "Every node is ready")
}

// judgeEach looks at each node of each pool. One of no pool of the shoot is its owner's business, or on its way out. One whose machine is kept for
// analysis is ill as expected, so the others count first.
func judgeEach(
	c gardencorev1beta1.Condition, shoot *gardencorev1beta1.Shoot, nodes []corev1.Node, leaving map[string]bool,
) (gardencorev1beta1.Condition, bool) {
	kept := gardencorev1beta1.Condition{}
	for i := range nodes {
		node := &nodes[i]
		pool := node.Labels[gardencorev1beta1.LabelWorkerPool]
		if query.Pool(&shoot.Spec, pool) == nil {
			continue
		}
		reason, codes := nodeTrouble(node)
		ill := c
		ill.Codes = codes
		switch {
		case reason != "" && !isKept(node):
			return bad(ill, gardencorev1beta1.ReasonNodeUnhealthy, fmt.Sprintf("Node %q of pool %q: %s", node.Name, pool, reason)), true
		case reason != "":
			kept = bad(ill, gardencorev1beta1.ReasonNodeUnhealthy, fmt.Sprintf("Node %q of pool %q, whose machine is kept for analysis: %s", node.Name, pool, reason))
			continue
		}
		if wrong := versionTrouble(shoot, pool, node); wrong != "" && !leaving[node.Name] {
			return bad(c, gardencorev1beta1.ReasonKubeletVersionMismatch, fmt.Sprintf("Node %q of pool %q: %s", node.Name, pool, wrong)), true
		}
	}
	return kept, kept.Status != ""
}

func unreachable(shoot *gardencorev1beta1.Shoot) string {
	last := shoot.Status.LastOperation
	switch {
	case last == nil || (last.Type == gardencorev1beta1.LastOperationTypeCreate && last.State != gardencorev1beta1.LastOperationStateSucceeded):
		return "The API server is not created yet"
	case last.Type == gardencorev1beta1.LastOperationTypeDelete:
		return "The shoot is being deleted"
	default:
		return "The API server does not answer"
	}
}

func nodeTrouble(node *corev1.Node) (string, []gardencorev1beta1.ErrorCode) {
	ready := false
	for _, condition := range node.Status.Conditions {
		switch condition.Type {
		case corev1.NodeReady:
			ready = condition.Status == corev1.ConditionTrue
		case corev1.NodeDiskPressure, corev1.NodeMemoryPressure, corev1.NodePIDPressure:
			if condition.Status == corev1.ConditionTrue {
				return fmt.Sprintf("it has %s", condition.Type), []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}
			}
		case corev1.NodeNetworkUnavailable:
			if condition.Status == corev1.ConditionTrue {
				return "its network is not available", nil
			}
		}
	}
	if !ready {
		return "it is not ready", nil
	}
	return "", nil
}

// versionTrouble compares patch versions only: while a minor version is rolled out, old machines are being replaced. One that is on its way out
// because of a patch is known by its machine.
func versionTrouble(shoot *gardencorev1beta1.Shoot, pool string, node *corev1.Node) string {
	if query.UpdatesInPlace(shoot, pool) {
		return ""
	}
	want := shoot.Spec.Kubernetes.Version
	if w := query.Pool(&shoot.Spec, pool); w != nil {
		want = query.PoolVersion(&shoot.Spec, w)
	}
	wanted, err := version.ParseGeneric(want)
	if err != nil {
		return ""
	}
	have, err := version.ParseGeneric(node.Status.NodeInfo.KubeletVersion)
	if err != nil || have.Major() != wanted.Major() || have.Minor() != wanted.Minor() || have.Patch() == wanted.Patch() {
		return ""
	}
	return fmt.Sprintf("its kubelet has version %s and not %s", have, wanted)
}

func good(c gardencorev1beta1.Condition, reason, message string) gardencorev1beta1.Condition {
	c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionTrue, reason, message
	return c
}

func bad(c gardencorev1beta1.Condition, reason, message string) gardencorev1beta1.Condition {
	c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionFalse, reason, strings.TrimSpace(message)
	return c
}
