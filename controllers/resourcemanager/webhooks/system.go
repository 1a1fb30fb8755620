// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const (
	labelSkipSystem = "system-components-config.resources.gardener.cloud/skip"
	kindDaemonSet   = "DaemonSet"
	// leavingTaint is put on nodes that are about to go.
	leavingTaint = "ToBeDeletedByClusterAutoscaler"
)

// notOfDaemonSets leaves out the pods of DaemonSets, which run on the nodes that these choose.
func notOfDaemonSets() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{{
		Name: "not-of-daemonsets", Expression: "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind == '" + kindDaemonSet + "')",
	}}
}

// placeSystemPods keeps system components on the nodes that are meant for them, and lets them tolerate the taints of these
// (GRM-WH-SYS-1).
func placeSystemPods(d *Decider) admission.Handler {
	return mutate(func(ctx context.Context, _ admission.Request, pod *corev1.Pod) error {
		ofDaemonSet := slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == kindDaemonSet })
		if pod.Labels[labelSkipSystem] == "true" || pod.Labels[gardencorev1beta1.LabelManagedBy] != gardenresourcesv1alpha1.ManagedByGardener || ofDaemonSet {
			return nil
		}
		cluster, err := d.reader(ctx)
		if err != nil {
			return err
		}
		nodes := &corev1.NodeList{}
		meant := client.MatchingLabels{gardencorev1beta1.LabelWorkerSystemComponents: "true"}
		if err := cluster.List(ctx, nodes, meant); err != nil {
			return fmt.Errorf("list the nodes for system components: %w", err)
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		maps.Copy(pod.Spec.NodeSelector, meant)
		for i := range nodes.Items {
			for _, taint := range nodes.Items[i].Spec.Taints {
				tolerate(pod, taint)
			}
		}
		return nil
	})
}

// tolerate adds a toleration for a taint that somebody has given a node. Those of Kubernetes and of nodes that go have a meaning of
// their own.
func tolerate(pod *corev1.Pod, taint corev1.Taint) {
	if strings.Contains(taint.Key, "kubernetes.io/") || taint.Key == leavingTaint || taint.Key == gardencorev1beta1.TaintNodeCriticalComponentsNotReady {
		return
	}
	toleration := corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect}
	if !slices.Contains(pod.Spec.Tolerations, toleration) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
	}
}
