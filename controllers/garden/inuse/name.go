// SPDX-License-Identifier: Apache-2.0

package inuse

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Name names a referencing object for people: its kind, and its name with the namespace if it has one.
func Name(kind string, object client.Object) string {
	if object.GetNamespace() == "" {
		return kind + " " + object.GetName()
	}
	return kind + " " + types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}.String()
}
