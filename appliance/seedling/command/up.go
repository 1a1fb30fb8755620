// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func newUp(program Program) *cobra.Command {
	var state stateFlag
	options := cluster.Options{Binary: program.Binary, Clock: program.Clock}
	command := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster, or the parts of it that do not run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Out = cmd.OutOrStdout()
			dir, err := state.path()
			if err != nil {
				return err
			}
			options.Config, err = cluster.LoadConfig(dir)
			if errors.Is(err, cluster.ErrNoSeedling) {
				options.Config, err = cluster.NewConfig(dir), nil
			}
			if err != nil {
				return err
			}
			return cluster.New(options).Up(cmd.Context())
		},
	}
	state.add(command.Flags())
	command.Flags().StringVar(&options.ImagesDir, "images", beside(program.Binary, "images"), "folder of image archives to import")
	command.Flags().StringVar(&options.CNIDir, "cni", beside(program.Binary, "cni"), "folder of network plugins")
	command.Flags().StringVar(&options.ResolvConf, "resolv-conf", "", "file with the name servers for names outside of the cluster (default: /etc/resolv.conf)")
	return command
}
