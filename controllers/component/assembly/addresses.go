// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"maps"
	"sync"

	"github.com/terrarium-garden/terrarium/controllers/component"
)

// Addresses are those of the Services of components, as far as a run knows them. Several tasks may use them at once; the
// edges of the graph see to it that an address is known when it is asked for. The zero value is ready for use.
type Addresses struct {
	mu    sync.Mutex
	known component.Addresses
}

// Of is the address of a component's Service.
func (a *Addresses) Of(name component.Name) component.Address {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[name]
}

func (a *Addresses) set(name component.Name, address component.Address) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = component.Addresses{}
	}
	a.known[name] = address
}

func (a *Addresses) all() component.Addresses {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.known)
}
