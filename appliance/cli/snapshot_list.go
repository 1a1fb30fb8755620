// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

type snapshotListOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
}

func newSnapshotListCommand(env Environment) *cobra.Command {
	o := &snapshotListOptions{env: env}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the snapshots of a garden, the newest first",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON, formatYAML)
	return cmd
}

func (o *snapshotListOptions) run(ctx context.Context) error {
	list, err := listSnapshots(ctx, o.connection, o.env)
	if err != nil {
		return err
	}
	return o.output.write(o.env.Out, list, func(w io.Writer) error {
		if len(list.Items) == 0 {
			o.env.tell("No snapshots found.\n")
			return nil
		}
		rows := [][]string{{"NAME", "TIME", "SIZE", "REVISION", "DESTINATION"}}
		for i := range list.Items {
			s := &list.Items[i].Status
			rows = append(rows, []string{
				list.Items[i].Name, s.Time.UTC().Format(time.RFC3339), size(s.Bytes), strconv.FormatInt(s.Revision, 10), s.Destination,
			})
		}
		return writeTable(w, rows)
	})
}

func listSnapshots(ctx context.Context, c options.Connection, env Environment) (*gardenappliancev1alpha1.SnapshotList, error) {
	g, err := connect(c, env.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := newApplianceClient(g.config)
	if err != nil {
		return nil, err
	}
	list := &gardenappliancev1alpha1.SnapshotList{}
	if err := client.Get().Resource("snapshots").Do(ctx).Into(list); err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	list.SetGroupVersionKind(gardenappliancev1alpha1.GroupVersion.WithKind("SnapshotList"))
	return list, nil
}
