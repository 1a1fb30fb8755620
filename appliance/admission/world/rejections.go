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

// Rejected notes that a request is refused, in the log and in the metrics, and returns the refusal. The reason is one
// word for many refusals of the same sort.
func (w *World) Rejected(a admission.Attributes, reason string, refusal error) error {
	w.Note(a, "Request refused", reason)
	w.rejections.WithLabelValues(string(a.GetOperation()), a.GetKind().Kind, a.GetNamespace(), reason).Inc()
	return refusal
}

// Note writes a line about a request into the log.
func (w *World) Note(a admission.Attributes, what, reason string) {
	w.Log.Info(what, "operation", a.GetOperation(), "resource", a.GetResource().String(), "namespace", a.GetNamespace(),
		"name", a.GetName(), "user", a.GetUserInfo().GetName(), "reason", reason)
}
