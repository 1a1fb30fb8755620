// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
)

type gardenletLeaveOptions struct {
	env         Environment
	leave       join.LeaveOptions
	dryRun, yes bool
}

func newGardenletLeaveCommand(env Environment) *cobra.Command {
	o := &gardenletLeaveOptions{env: env}
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Remove the gardenlet from a cluster, and optionally the Seed from the garden",
		Long: `Removes the objects that "terrarium gardenlet join" has created in a cluster. The Seed stays in the garden, and its shoots keep
running without being reconciled. With --delete-seed, the Seed is deleted first, which requires that there are no shoots on
it, and the gardenlet removes everything that it has deployed.

A gardenlet that runs as a process has only its credentials in the cluster. Stop it before; with --delete-seed, stop it afterwards.

The command shows which cluster and which seed that is, and asks before it changes anything. --yes is the answer of scripts.`,
		Example: `  terrarium gardenlet leave
  terrarium gardenlet leave --dry-run
  terrarium gardenlet leave --seed-kubeconfig seed.kubeconfig --delete-seed --yes`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	addSeedFlags(fs, &o.leave.SeedKubeconfig, &o.leave.SeedContext)
	fs.BoolVar(&o.leave.DeleteSeed, "delete-seed", false, "also delete the Seed in the garden")
	fs.BoolVar(&o.dryRun, "dry-run", false, "run all checks and print what would be removed")
	fs.BoolVar(&o.yes, "yes", false, "do not ask")
	fs.DurationVar(&o.leave.Timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

func (o *gardenletLeaveOptions) validate() []error {
	var errs []error
	if o.leave.Timeout <= 0 {
		errs = append(errs, errors.New("--timeout: must be positive"))
	}
	if o.dryRun && o.yes {
		errs = append(errs, errors.New("--yes: --dry-run asks no question"))
	}
	return errs
}

// errOnlyTried ends a dry run.
var errOnlyTried = errors.New("this was a dry run")

func (o *gardenletLeaveOptions) run(ctx context.Context) error {
	o.leave.Confirm = o.confirm
	err := join.Leave(ctx, o.leave, join.Surroundings{
		Tell:      func(line string) { o.env.tell("%s\n", line) },
		Clock:     o.env.Clock,
		UserAgent: "terrarium/" + build.Version,
	})
	if errors.Is(err, errOnlyTried) {
		return nil
	}
	return err
}

// confirm tells what is removed, and asks about it.
func (o *gardenletLeaveOptions) confirm(ctx context.Context, d join.Departure) error {
	o.env.tell("The cluster %s is seed %q.\n", d.Cluster, d.Seed)
	if o.dryRun {
		if d.DeleteSeed {
			if _, err := fmt.Fprintf(o.env.Out, "Seed %s (in the garden)\n", d.Seed); err != nil {
				return err
			}
		}
		for _, object := range d.Objects {
			if _, err := fmt.Fprintln(o.env.Out, object); err != nil {
				return err
			}
		}
		return errOnlyTried
	}
	if o.yes {
		return nil
	}
	sentence := fmt.Sprintf("This removes its gardenlet; the Seed %q stays.", d.Seed)
	if d.DeleteSeed {
		sentence = fmt.Sprintf("This deletes the Seed %q, everything that its gardenlet has deployed, and the gardenlet.", d.Seed)
	}
	if input, is := o.env.In.(*os.File); is && !term.IsTerminal(int(input.Fd())) {
		return withHint(errors.New("nothing was removed: there is no terminal to ask on"), "scripts answer with --yes")
	}
	yes, err := o.env.confirmed(ctx, sentence)
	if err == nil && !yes {
		return withHint(errors.New("nothing was removed: the answer was not yes"), "scripts answer with --yes")
	}
	return err
}
