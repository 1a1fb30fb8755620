// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

// Component is the proxy on the nodes of a shoot.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the service proxy", Images: []string{name},
		After: []component.Name{shootsystem.Name}, Addresses: []component.Name{apiserver.Exposure},
		Wanted: func(f facts.Shoot) bool { return f.Workers() && Enabled(f.Shoot.Spec.Kubernetes.KubeProxy) },
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			return Render(Values{
				Image: in.Image(name), Server: f.Hosts.NodeServer(in.Address(apiserver.Exposure).LoadBalancer), PodNetworks: f.PodNetworks(),
				Settings: f.Shoot.Spec.Kubernetes.KubeProxy,
			})
		},
	}
}
