// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/kubeproxy"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

// System are the components inside of a shoot. Nothing waits for them: some only run once there are nodes.
func System() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{
		shootsystem.Component(),
		kubeproxy.Component(),
		coredns.Component(),
	}
}
