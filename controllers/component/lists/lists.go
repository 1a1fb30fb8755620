// SPDX-License-Identifier: Apache-2.0

// Package lists says which components there are: one list for each place. A component is in one list only; whatever acts on
// components (flows, health checks) goes through the lists. It is apart from package component because components import that.
package lists

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/clusterautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/dashboard"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/kubeproxy"
	"github.com/terrarium-garden/terrarium/controllers/component/machinecontroller"
	"github.com/terrarium-garden/terrarium/controllers/component/metricsserver"
	"github.com/terrarium-garden/terrarium/controllers/component/nginxingress"
	"github.com/terrarium-garden/terrarium/controllers/component/nodelocaldns"
	"github.com/terrarium-garden/terrarium/controllers/component/nodeproblemdetector"
	"github.com/terrarium-garden/terrarium/controllers/component/scheduler"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/component/shootwebhooks"
	"github.com/terrarium-garden/terrarium/controllers/component/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/component/verticalpodautoscaler"
)

// ControlPlane are the components of a shoot in its namespace in the seed. Health checks judge them in this order.
func ControlPlane() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{
		apiserver.ExposureComponent(),
		shootwebhooks.Address(),
		etcd.Component(gardencorev1beta1.ETCDRoleMain),
		etcd.Component(gardencorev1beta1.ETCDRoleEvents),
		apiserver.Component(),
		controllermanager.Component(),
		scheduler.Component(),
	}
}

// Machines are the components in the same namespace that turn machine objects into machines. They come before machines are ordered, and go
// when these are gone.
func Machines() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{machinecontroller.Component()}
}

// Scaling are the components in the same namespace that act on machines. They come when machines are ordered, and go before these do.
func Scaling() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{clusterautoscaler.Component()}
}

// Sizing are the components in the same namespace that size the pods of the shoot. Nothing waits for them, as pods run without them too.
func Sizing() []component.Component[facts.Shoot] {
	return verticalpodautoscaler.Components()
}

// System are the components inside of a shoot. Nothing waits for them: some only run once there are nodes.
func System() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{
		shootsystem.Component(),
		shootwebhooks.Component(),
		kubeproxy.Component(),
		tunnel.Component(),
		coredns.Component(),
		nodelocaldns.Component(),
		metricsserver.Component(),
		nodeproblemdetector.Component(),
		machinecontroller.Inside(),
		clusterautoscaler.Inside(),
		verticalpodautoscaler.InsideComponent(),
		verticalpodautoscaler.WebhookComponent(),
	}
}

// Optional are the components inside of a shoot that its owner may add for evaluation. They come after those that every shoot has, and go
// before a cluster is cleaned up.
func Optional() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{dashboard.Component(), nginxingress.Component()}
}
