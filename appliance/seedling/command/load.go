// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

func newLoad(program Program) *cobra.Command {
	var state stateFlag
	command := &cobra.Command{
		Use:   "load ARCHIVE...",
		Short: "Import image archives into the cluster",
		Long: `Import image archives, as written by "docker save" or "seedling images build", into the cluster.
Images that exist already are skipped.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, archives []string) error {
			c, err := state.load(cluster.Options{Clock: program.Clock, Out: cmd.OutOrStdout()})
			if err != nil {
				return err
			}
			fresh, err := c.Load(cmd.Context(), archives)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d of %d archives were new and have been imported\n", fresh, len(archives))
			return err
		},
	}
	state.add(command.Flags())
	return command
}
