// SPDX-License-Identifier: Apache-2.0

package shootstate

import "sigs.k8s.io/controller-runtime/pkg/handler"

// Arrivals is the handler of events of shoots.
func (r *Reconciler) Arrivals() handler.Funcs { return r.arrivals() }
