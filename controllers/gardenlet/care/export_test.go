// SPDX-License-Identifier: Apache-2.0

package care

import "sigs.k8s.io/controller-runtime/pkg/handler"

// Events is what the reconciler does with events of Shoots, for tests.
func (r *Reconciler) Events() handler.EventHandler { return r.enqueue() }
