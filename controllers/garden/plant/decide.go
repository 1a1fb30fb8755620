// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"cmp"
	"strings"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Report writes a finding into the status. What is known of a cluster that is only away for a while stays.
func Report(status *gardencorev1beta1.PlantStatus, f Finding, now time.Time) {
	for _, c := range []gardencorev1beta1.Condition{apiServer(f), everyNode(f)} {
		status.Conditions = kit.SetCondition(status.Conditions, c, now)
	}
	switch {
	case f.Unusable != "":
		status.ClusterInfo = nil
	case f.Down == "":
		status.ClusterInfo = clusterInfo(f)
	}
}

func clusterInfo(f Finding) *gardencorev1beta1.ClusterInfo {
	return &gardencorev1beta1.ClusterInfo{
		Cloud:      gardencorev1beta1.CloudInfo{Type: cmp.Or(f.Cloud, unknown), Region: cmp.Or(f.Region, unknown)},
		Kubernetes: gardencorev1beta1.KubernetesInfo{Version: cmp.Or(f.Version, unknown)},
	}
}

func apiServer(f Finding) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeAPIServerAvailable, Status: gardencorev1beta1.ConditionFalse}
	switch {
	case f.Unusable != "":
		c.Reason, c.Message = gardencorev1beta1.ReasonAPIServerDown, sentence(f.Unusable)
	case f.Down != "" && f.Answered:
		c.Reason, c.Message = gardencorev1beta1.ReasonHealthzRequestError, sentence(f.Down)
	case f.Down != "":
		c.Reason, c.Message = gardencorev1beta1.ReasonHealthzRequestFailed, sentence(f.Down)
	default:
		c.Status, c.Reason = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonHealthzRequestSucceeded
		c.Message = "The API server answers its health check."
	}
	return c
}

func everyNode(f Finding) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeEveryNodeReady, Status: gardencorev1beta1.ConditionFalse}
	switch {
	case f.Unusable != "":
		c.Reason, c.Message = gardencorev1beta1.ReasonAPIServerDown, sentence(f.Unusable)
	case f.Unlisted != "":
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError, sentence(f.Unlisted)
	case f.Trouble != "":
		c.Reason, c.Message = gardencorev1beta1.ReasonNodeUnhealthy, sentence(f.Trouble)
	default:
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonEveryNodeReady, "Every node is ready."
	}
	return c
}

// sentence makes a reason a sentence.
func sentence(reason string) string { return strings.ToUpper(reason[:1]) + reason[1:] + "." }
