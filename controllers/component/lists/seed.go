// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/priorityclass"
)

// Seed are the components that a seed has once, for all of its shoots. Their inventories are in the namespace garden.
func Seed() []component.Component[facts.Seed] {
	return []component.Component[facts.Seed]{
		priorityclass.Component(),
	}
}
