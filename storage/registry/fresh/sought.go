// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/storage"
)

// Sought says whether a watch with these selectors is found by a label or field that it requires. A change costs nothing for such a watch
// that it does not concern, while every other watch of the kind is asked about it.
func Sought(l labels.Selector, f fields.Selector) bool {
	_, sought := required(&storage.SelectionPredicate{Label: l, Field: f})

	return sought
}
