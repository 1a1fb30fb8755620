// SPDX-License-Identifier: Apache-2.0

package shootsystem

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Name names the component; everything else inside a shoot comes after it.
const Name component.Name = "system"

// Component is what a shoot has inside before it gets nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the system resources of the cluster", Task: "system-resources",
		Render: func(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
			return Render(Values{KubeletClientUser: apiserver.KubeletClientUser, ClusterIdentity: f.ClusterIdentity, Info: info(f)}), nil
		},
	}
}

// info is what programs in the shoot may want to know of it.
func info(f facts.Shoot) map[string]string {
	spec := &f.Shoot.Spec
	info := map[string]string{
		"projectName":       f.Project,
		"shootName":         f.Shoot.Name,
		"provider":          spec.Provider.Type,
		"region":            spec.Region,
		"kubernetesVersion": spec.Kubernetes.Version,
		"podNetwork":        strings.Join(f.PodNetworks(), ","),
		"serviceNetwork":    strings.Join(f.ServiceNetworks(), ","),
	}
	if f.Hosts.External != "" {
		info["domain"] = *spec.DNS.Domain
	}
	if n := spec.Networking; n != nil && n.Nodes != nil {
		info["nodeNetwork"] = *n.Nodes
	}
	if m := spec.Maintenance; m != nil && m.TimeWindow != nil {
		info["maintenanceBegin"], info["maintenanceEnd"] = m.TimeWindow.Begin, m.TimeWindow.End
	}
	return info
}
