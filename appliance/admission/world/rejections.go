// SPDX-License-Identifier: Apache-2.0

package world

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/admission"
)

// NewRejections makes the counter of refused requests (GAC-SRV-5).
func NewRejections() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gardener_admission_controller_rejected_resources_total",
		Help: "Requests that rules about objects have refused.",
	}, []string{"operation", "kind", "namespace", "reason"})
}

// Rejected counts a request that is refused, and names the reason.
func (w *World) Rejected(a admission.Attributes, reason string) {
	w.rejections.WithLabelValues(string(a.GetOperation()), a.GetKind().Kind, a.GetNamespace(), reason).Inc()
}
