// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

const (
	// snapshotLimit is how long a command waits for a snapshot.
	snapshotLimit = 10 * time.Minute
	// snapshotPause is the time between two looks whether it is complete.
	snapshotPause = 2 * time.Second
)

type snapshotSaveOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
}

func newSnapshotSaveCommand(env Environment) *cobra.Command {
	o := &snapshotSaveOptions{env: env}
	cmd := &cobra.Command{
		Use:   "save",
		Short: "Take a snapshot now",
		Long:  `Has the server take a snapshot into its destination, and prints the name of the snapshot when it is complete.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), "", formatJSON, formatYAML)
	return cmd
}

func (o *snapshotSaveOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	client, err := newApplianceClient(g.config)
	if err != nil {
		return err
	}
	taking := snapshotTaking{client: client, patience: snapshotLimit, pause: snapshotPause}
	made, err := taking.run(ctx)
	if errors.Is(err, errSnapshotLate) {
		return withHint(fmt.Errorf("take snapshot: %w", err), `see whether it failed with "terrarium doctor", and later with "terrarium snapshot list" whether it is there`)
	}
	if err != nil {
		return fmt.Errorf("take snapshot: %w", err)
	}
	made.SetGroupVersionKind(gardenappliancev1alpha1.GroupVersion.WithKind("Snapshot"))
	return o.output.write(o.env.Out, made, func(w io.Writer) error {
		o.env.tell("Saved %d objects and %d events, %s, in %s.\n", made.Status.Objects, made.Status.Events, size(made.Status.Bytes), made.Status.Destination)
		_, err := fmt.Fprintln(w, made.Name)
		return err
	})
}
