// SPDX-License-Identifier: Apache-2.0

package world

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/admission"
)

// NewRejections returns the counter of rejected requests (GAC-SRV-5).
func NewRejections() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gardener_admission_controller_rejected_resources_total",
		Help: "Requests that rules about objects have refused.",
	}, []string{"operation", "kind", "namespace", "reason"})
}

// Rejected records a rejection in the log and in the metrics, and returns it. The reason is one word for all rejections of
// the same type.
func (w *World) Rejected(a admission.Attributes, reason string, refusal error) error {
	w.Note(a, "Request refused", reason)
	w.rejections.WithLabelValues(string(a.GetOperation()), a.GetKind().Kind, a.GetNamespace(), reason).Inc()
	return refusal
}

// Note logs a message about a request.
func (w *World) Note(a admission.Attributes, what, reason string) {
	w.Log.Info(what, "operation", a.GetOperation(), "resource", a.GetResource().String(), "namespace", a.GetNamespace(),
		"name", a.GetName(), "user", a.GetUserInfo().GetName(), "reason", reason)
}
