// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	labelSkipInPlace    = gardencorev1beta1.LabelVPASkipInPlaceUpdates
	labelMutatedInPlace = "vpa-in-place-updates.resources.gardener.cloud/mutated"

	// inPlace is the mode in which an autoscaler changes the resources of a pod that runs, and evicts it only where that is impossible.
	inPlace = "InPlaceOrRecreate"
)

// autoscaler is what is read and written of a VerticalPodAutoscaler. All other fields stay, because only the difference is answered.
type autoscaler struct {
	Metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	} `json:"metadata"`
	Spec struct {
		UpdatePolicy *updatePolicy `json:"updatePolicy,omitempty"`
	} `json:"spec"`
}

type updatePolicy struct {
	UpdateMode *string `json:"updateMode,omitempty"`
}

// evictsPods leaves out autoscalers that evict no pods. One without a mode has the mode Auto.
func evictsPods() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{{
		Name:       "evicts-pods",
		Expression: "!has(object.spec.updatePolicy) || !has(object.spec.updatePolicy.updateMode) || object.spec.updatePolicy.updateMode in ['Auto', 'Recreate']",
	}}
}

// updateInPlace makes vertical autoscalers change pods in place that would otherwise evict them (GRM-WH-VPA-1).
func updateInPlace(*Decider) admission.Handler {
	return mutate(func(_ context.Context, _ admission.Request, vpa *autoscaler) error {
		if _, skipped := vpa.Metadata.Labels[labelSkipInPlace]; skipped {
			return nil
		}
		if vpa.Spec.UpdatePolicy == nil {
			vpa.Spec.UpdatePolicy = &updatePolicy{}
		}
		if mode := vpa.Spec.UpdatePolicy.UpdateMode; mode != nil && *mode != "Auto" && *mode != "Recreate" {
			return nil
		}
		vpa.Spec.UpdatePolicy.UpdateMode = new(inPlace)
		if vpa.Metadata.Labels == nil {
			vpa.Metadata.Labels = map[string]string{}
		}
		vpa.Metadata.Labels[labelMutatedInPlace] = "true"
		return nil
	})
}
