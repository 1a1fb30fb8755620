// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
)

type gardenletLeaveOptions struct {
	env   Environment
	leave join.LeaveOptions
}

func newGardenletLeaveCommand(env Environment) *cobra.Command {
	o := &gardenletLeaveOptions{env: env}
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Remove the gardenlet from a cluster, and optionally the Seed from the garden",
		Long: `Removes the objects that "terrarium gardenlet join" has created in a cluster. The Seed stays in the garden, and its shoots keep
running without being reconciled. With --delete-seed, the Seed is deleted first, which requires that there are no shoots on
it, and the gardenlet removes everything that it has deployed.`,
		Example: `  terrarium gardenlet leave
  terrarium gardenlet leave --seed-kubeconfig seed.kubeconfig --delete-seed`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	addSeedFlags(cmd.Flags(), &o.leave.SeedKubeconfig, &o.leave.SeedContext)
	cmd.Flags().BoolVar(&o.leave.DeleteSeed, "delete-seed", false, "also delete the Seed in the garden")
	cmd.Flags().DurationVar(&o.leave.Timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

func (o *gardenletLeaveOptions) validate() error {
	if o.leave.Timeout <= 0 {
		return errors.New("--timeout: must be positive")
	}
	return nil
}

func (o *gardenletLeaveOptions) run(ctx context.Context) error {
	return join.Leave(ctx, o.leave, join.Surroundings{
		Tell:      func(line string) { o.env.tell("%s\n", line) },
		Clock:     o.env.Clock,
		UserAgent: "terrarium/" + build.Version,
	})
}
