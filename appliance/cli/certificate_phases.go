// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// The phases of a rotation.
const (
	phaseStart    = "start"
	phaseComplete = "complete"
)

// phasedRotation is a rotation in two phases, which both happen in a running server.
type phasedRotation struct {
	certificateSource

	// what is what the server calls it.
	what string
	// forced is what --force does; empty if there is no such flag.
	forced string
	// started and completed tell what has been done. The report is the answer of the server.
	started   func(report *certificateReport)
	completed func(ctx context.Context) error

	force bool
}

// command makes the command of a rotation from its texts.
func (r *phasedRotation) command(cmd *cobra.Command) *cobra.Command {
	cmd.Use += " {start|complete}"
	cmd.ValidArgs = []string{phaseStart, phaseComplete}
	cmd.Args = choice("phase", phaseStart, phaseComplete)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if r.force && args[0] != phaseComplete {
			return usage(cmd, fmt.Errorf("--force: only for %q", phaseComplete))
		}

		return r.run(cmd.Context(), args[0])
	}
	r.connection.AddFlags(cmd.Flags())
	if r.forced != "" {
		cmd.Flags().BoolVar(&r.force, "force", false, r.forced)
	}

	return cmd
}

func (r *phasedRotation) run(ctx context.Context, phase string) error {
	want := map[string]any{"rotate": r.what, "phase": phase}
	if r.force {
		want["force"] = true
	}
	report, answered, err := r.ask(ctx, want)
	if err != nil {
		return err
	}
	if !answered {
		return errServerDown
	}
	if phase == phaseStart {
		r.started(report)

		return nil
	}

	return r.completed(ctx)
}
