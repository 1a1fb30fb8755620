// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func newDown(program Program) *cobra.Command {
	var state stateFlag
	var keepImages bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Remove the cluster and everything that it created on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := state.load(cluster.Options{Clock: program.Clock, Out: cmd.OutOrStdout()})
			if errors.Is(err, cluster.ErrNoSeedling) {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "There is no cluster in %s: nothing to remove\n", state.dir)
				return err
			}
			if err != nil {
				return err
			}
			return c.Down(cmd.Context(), keepImages)
		},
	}
	state.add(command.Flags())
	command.Flags().BoolVar(&keepImages, "keep-images", false, "keep the imported images, so that the next start is faster")
	return command
}
