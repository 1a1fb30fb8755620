// SPDX-License-Identifier: Apache-2.0

package namespace

import "sigs.k8s.io/controller-runtime/pkg/predicate"

// Sources lets through the events of sources that start a pass.
func Sources() predicate.Predicate { return sources() }

// Copies lets through those of copies.
func Copies() predicate.Predicate { return copies() }
