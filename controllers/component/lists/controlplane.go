// SPDX-License-Identifier: Apache-2.0

package lists

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
)

// ControlPlane are the components of a shoot in its namespace in the seed. Health checks judge them in this order.
func ControlPlane() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{
		apiserver.ExposureComponent(),
		etcd.Component(gardencorev1beta1.ETCDRoleMain),
		etcd.Component(gardencorev1beta1.ETCDRoleEvents),
		apiserver.Component(),
		controllermanager.Component(),
		scheduler.Component(),
	}
}
