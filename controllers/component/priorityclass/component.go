// SPDX-License-Identifier: Apache-2.0

package priorityclass

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Component are the priority classes of a seed.
func Component() component.Component[facts.Seed] {
	return component.Component[facts.Seed]{
		Name: "priority-classes", Title: "the priority classes of control planes",
		Render: func(facts.Seed, *component.Inputs) ([]client.Object, error) { return Render(), nil },
	}
}
