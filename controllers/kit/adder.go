// SPDX-License-Identifier: Apache-2.0

package kit

import "sigs.k8s.io/controller-runtime/pkg/manager"

// Adder adds one controller to a manager. A role of the product is a list of adders.
type Adder interface {
	// AddToManager fills the unset fields of the reconciler from the manager and registers its watches. It starts
	// nothing: the manager does.
	AddToManager(mgr manager.Manager) error
}
