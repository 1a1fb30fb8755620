// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

type snapshotDeleteOptions struct {
	env        Environment
	connection options.Connection
	name       string
}

func newSnapshotDeleteCommand(env Environment) *cobra.Command {
	o := &snapshotDeleteOptions{env: env}
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a snapshot",
		Long:  `Deletes a snapshot from the destination of the server. The newest one stays, because the increments go on from it.`,
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return o.snapshots(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
	}
	o.connection.AddFlags(cmd.Flags())
	return cmd
}

// snapshots are the names of all snapshots, for completion.
func (o *snapshotDeleteOptions) snapshots(ctx context.Context) []string {
	return briefly(ctx, func(ctx context.Context) ([]string, error) {
		list, err := listSnapshots(ctx, o.connection, o.env)
		if err != nil {
			return nil, err
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names, nil
	})
}

func (o *snapshotDeleteOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	client, err := newApplianceClient(g.config)
	if err != nil {
		return err
	}
	if err := client.Delete().Resource("snapshots").Name(o.name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("delete snapshot: %w", err)
	}
	o.env.tell("Snapshot %q deleted.\n", o.name)
	return nil
}
