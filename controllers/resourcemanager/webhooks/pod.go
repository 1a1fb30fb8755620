// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	labelSkipSeccomp = "seccompprofile.resources.gardener.cloud/skip"
	labelSkipSpread  = "topology-spread-constraints.resources.gardener.cloud/skip"
)

// needsSeccomp leaves out pods that have a profile, and those for which none would count because all of their containers are privileged.
func needsSeccomp() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{
		{Name: "no-profile", Expression: "!has(object.spec.securityContext) || !has(object.spec.securityContext.seccompProfile)"},
		{Name: "not-privileged", Expression: "!object.spec.containers.all(c, has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged)"},
	}
}

// defaultSeccomp gives pods the profile of their runtime, unless they have one (GRM-WH-SECCOMP-1). A container that is privileged, or
// that has a profile of its own, is not affected by that of its pod.
func defaultSeccomp(*Decider) admission.Handler {
	return mutate(func(_ context.Context, _ admission.Request, pod *corev1.Pod) error {
		if _, skipped := pod.Labels[labelSkipSeccomp]; skipped {
			return nil
		}
		if pod.Spec.SecurityContext == nil {
			pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
		}
		if pod.Spec.SecurityContext.SeccompProfile == nil {
			pod.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
		}
		return nil
	})
}

// nameScheduler gives pods the scheduler of control planes, unless they ask for another one (GRM-WH-SCHED-1).
func nameScheduler(d *Decider) admission.Handler {
	return mutate(func(_ context.Context, _ admission.Request, pod *corev1.Pod) error {
		if pod.Spec.SchedulerName == "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName {
			pod.Spec.SchedulerName = d.Scheduler
		}
		return nil
	})
}

// needsSpread leaves out pods that are not spread, or belong to no ReplicaSet of a Deployment.
func needsSpread() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{
		{Name: "is-spread", Expression: "has(object.spec.topologySpreadConstraints) && size(object.spec.topologySpreadConstraints) > 0"},
		{Name: "has-hash", Expression: "has(object.metadata.labels) && '" + appsv1.DefaultDeploymentUniqueLabelKey + "' in object.metadata.labels"},
	}
}

// spreadByHash makes the constraints of a pod count only pods of the same version of its Deployment (GRM-WH-TSC-1): those of the version
// before would otherwise stand in the way of a rollout.
func spreadByHash(*Decider) admission.Handler {
	return mutate(func(_ context.Context, _ admission.Request, pod *corev1.Pod) error {
		const key = appsv1.DefaultDeploymentUniqueLabelKey
		hash, found := pod.Labels[key]
		if _, skipped := pod.Labels[labelSkipSpread]; skipped || !found {
			return nil
		}
		for i := range pod.Spec.TopologySpreadConstraints {
			constraint := &pod.Spec.TopologySpreadConstraints[i]
			if constraint.LabelSelector != nil { // without one, it counts no pods at all
				constraint.LabelSelector = metav1.AddLabelToSelector(constraint.LabelSelector, key, hash)
			}
		}
		return nil
	})
}
