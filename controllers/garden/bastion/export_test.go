// SPDX-License-Identifier: Apache-2.0

package bastion

import "sigs.k8s.io/controller-runtime/pkg/predicate"

// Leaves lets through the events of shoots that their Bastions follow.
func Leaves() predicate.Predicate { return leaves() }
