// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Addresses are the values in which the addresses of components travel through a flow. Several assemblies of one flow share
// them. It is used while the flow is put together, and not by several goroutines.
type Addresses map[component.Name]*flow.Value[component.Address]

// Of is the value for the address of a component. The task that waits for the component sets it.
func (a Addresses) Of(name component.Name) *flow.Value[component.Address] {
	value, found := a[name]
	if !found {
		value = flow.NewValue[component.Address]("address of " + string(name))
		a[name] = value
	}
	return value
}
