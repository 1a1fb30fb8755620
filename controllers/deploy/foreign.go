// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// foreignUnhealthy judges kinds that are not those of Kubernetes and have no Go types here; others only have to exist.
func foreignUnhealthy(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind().String() {
	case "VerticalPodAutoscaler.autoscaling.k8s.io":
		return autoscalerUnhealthy(u)
	case "Prometheus.monitoring.coreos.com", "Alertmanager.monitoring.coreos.com":
		return cmp.Or(monitoringCondition(u, "Available"), fewer(number(u, 0, "status", "availableReplicas"), number(u, 1, "spec", "replicas"), "available"))
	case "Certificate.cert.gardener.cloud", "Issuer.cert.gardener.cloud":
		return cmp.Or(unobservedStatus(u), unreadyCertificate(u))
	default:
		return ""
	}
}

// ForeignProgress says what of an object of such a kind is not in its newest version yet.
func ForeignProgress(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind().String() {
	case "Prometheus.monitoring.coreos.com", "Alertmanager.monitoring.coreos.com":
		return cmp.Or(monitoringCondition(u, "Reconciled"), fewer(number(u, 0, "status", "updatedReplicas"), number(u, 1, "spec", "replicas"), "updated"))
	case "Certificate.cert.gardener.cloud", "Issuer.cert.gardener.cloud":
		return unobservedStatus(u)
	default:
		return ""
	}
}

// Foreign reports whether there is a rule for the health of a kind that is not one of Kubernetes.
func Foreign(kind string) bool {
	switch kind {
	case "VerticalPodAutoscaler.autoscaling.k8s.io", "Prometheus.monitoring.coreos.com", "Alertmanager.monitoring.coreos.com",
		"Certificate.cert.gardener.cloud", "Issuer.cert.gardener.cloud":
		return true
	default:
		return false
	}
}

// autoscalerUnhealthy reads the one condition of an autoscaler that says that it will never act.
func autoscalerUnhealthy(u *unstructured.Unstructured) string {
	if c, found := condition(u, "ConfigUnsupported"); found && c["status"] != string(corev1.ConditionFalse) {
		return "its configuration is not supported: " + text(c, "message")
	}
	return ""
}

// monitoringCondition says why a condition of the monitoring operator is not True for the present spec.
func monitoringCondition(u *unstructured.Unstructured, kind string) string {
	c, found := condition(u, kind)
	if !found {
		return fmt.Sprintf("the condition %s is missing", kind)
	}
	if observed, _, _ := unstructured.NestedInt64(c, "observedGeneration"); observed != u.GetGeneration() {
		return "the last change is not observed yet"
	}
	if c["status"] != string(corev1.ConditionTrue) {
		return fmt.Sprintf("the condition %s is %s: %s", kind, text(c, "status"), text(c, "message"))
	}
	return ""
}

// unreadyCertificate says why a certificate, or who issues it, is not ready.
func unreadyCertificate(u *unstructured.Unstructured) string {
	state, _, _ := unstructured.NestedString(u.Object, "status", "state")
	if state == "Ready" {
		return ""
	}
	message, _, _ := unstructured.NestedString(u.Object, "status", "message")
	return fmt.Sprintf("its state is %q: %s", state, message)
}

func unobservedStatus(u *unstructured.Unstructured) string {
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return unobserved(u, observed)
}

// condition finds a condition in the status.
func condition(u *unstructured.Unstructured, kind string) (map[string]any, bool) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, each := range conditions {
		if c, ok := each.(map[string]any); ok && c["type"] == kind {
			return c, true
		}
	}
	return nil, false
}

func text(fields map[string]any, name string) string {
	value, _ := fields[name].(string)
	return value
}

// number reads a number of pods.
func number(u *unstructured.Unstructured, otherwise int32, path ...string) int32 {
	value, found, err := unstructured.NestedInt64(u.Object, path...)
	if err != nil || !found || value != int64(int32(value)) { //nolint:gosec // What does not fit is no number of pods.
		return otherwise
	}
	return int32(value) //nolint:gosec // It fits.
}
