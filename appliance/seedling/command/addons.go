// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/knftables"

	"github.com/terrarium-garden/terrarium/appliance/seedling/addons"
	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
	"github.com/terrarium-garden/terrarium/appliance/seedling/dnszones"
	"github.com/terrarium-garden/terrarium/appliance/seedling/loadbalancer"
	"github.com/terrarium-garden/terrarium/appliance/seedling/networkpolicy"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// newAddons returns the command that "up" starts as one of the parts.
func newAddons(Program) *cobra.Command {
	var state stateFlag
	var listen string
	command := &cobra.Command{
		Use:    "addons",
		Short:  "Run the loops for load balancers, volumes, network policies and DNS records (a part of the cluster)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := state.config()
			if err != nil {
				return err
			}
			rest, err := clientcmd.BuildConfigFromFlags("", config.AddonsKubeconfig())
			if err != nil {
				return fmt.Errorf("read kubeconfig: %w", err)
			}
			client, err := kubernetes.NewForConfig(rest)
			if err != nil {
				return fmt.Errorf("make client of the cluster: %w", err)
			}
			return addons.Run(cmd.Context(), addons.Options{
				Client:           client,
				LoadBalancerPool: config.LoadBalancerCIDR,
				VolumesDir:       config.VolumesDir(),
				Machine:          loadbalancer.Machine{Add: node.AddAddress, Remove: node.RemoveAddress, Addresses: node.Addresses},
				Firewall:         func() (knftables.Interface, error) { return knftables.New(knftables.IPv4Family, networkpolicy.Table) },
				Zones:            dnszones.Files{Dir: config.ZonesDir(), Zones: cluster.Zones()},
				Listen:           listen,
				Log:              logr.FromSlogHandler(slog.NewTextHandler(cmd.ErrOrStderr(), nil)),
			})
		},
	}
	state.add(command.Flags())
	command.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address of the health endpoint")
	return command
}
