// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// unknownTrouble is the reason that package deploy gives for a pod that simply is not ready yet.
const unknownTrouble = "the pod is not ready"

// Progress says how far a set is from what it should be. Both texts are empty when it is there.
type Progress struct {
	// Waiting is what is still going on.
	Waiting string
	// Trouble is what keeps a machine from starting, and may not end by itself.
	Trouble string
}

// Summarize compares a set with its machines.
func Summarize(set Deployment, pods []corev1.Pod) Progress {
	ready, others, detail := 0, 0, ""
	progress := Progress{}
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || pod.Labels[LabelHash] != set.Hash {
			others++
			continue
		}
		ok, reason := deploy.Ready(pod)
		if ok {
			ready++
		}
		if !ok && reason != unknownTrouble && progress.Trouble == "" {
			progress.Trouble = reason
		}
		if !ok && detail == "" {
			detail = nodeTrouble(pod)
		}
	}
	switch {
	case ready != set.Replicas:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d of %d are ready%s", set.Name, ready, set.Replicas, detail)
	case others > 0:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d old ones are left", set.Name, others)
	}
	return progress
}

// nodeTrouble says what the node of a machine lacks, if it says so itself.
func nodeTrouble(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == ConditionNodeReady && condition.Status != corev1.ConditionTrue {
			return fmt.Sprintf("; node %q: %s", pod.Name, condition.Message)
		}
	}
	return ""
}
