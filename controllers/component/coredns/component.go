// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

// Component is the DNS server of a shoot with nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the DNS server", After: []component.Name{shootsystem.Name}, Images: []string{name},
		Wanted:   facts.Shoot.Workers,
		Replicas: func(facts.Shoot) int32 { return 2 },
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			address, err := f.DNSAddress()
			if err != nil {
				return nil, err
			}
			v := Values{Image: in.Image(name), Replicas: in.Replicas, Address: address}
			if c := f.Shoot.Spec.SystemComponents; c != nil && c.CoreDNS != nil && c.CoreDNS.Rewriting != nil {
				v.CommonSuffixes = c.CoreDNS.Rewriting.CommonSuffixes
			}
			return Render(v), nil
		},
	}
}
