// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineunits"
)

func newNodeAgentCommand(env Environment) *cobra.Command {
	o := nodeagent.Options{Clock: env.Clock}
	var log telemetry.Options
	cmd := &cobra.Command{
		Use:   "node-agent",
		Short: "Run the agent of a machine of a shoot, which applies the configuration of its worker pool",
		Long: `Runs on a machine of a shoot until it is interrupted. It watches the Secret with the configuration of the worker pool, writes files and
units that differ, restarts the units that a change concerns, and reports on the Node which configuration it has applied. Units are those of
systemd; on a machine of the provider "local", which has none, they are those of its first process.`,
		Example: `  terrarium node-agent --pool small --secret gardener-node-agent-small-83c75887902231cd-f3cbb6f8`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, append(log.Validate(), o.Validate()...)...); err != nil {
				return err
			}
			logger, err := processLog(env, log)
			if err != nil {
				return err
			}
			o.Units = machineunits.Init{}
			if nodeagent.Booted() {
				o.Units = nodeagent.Systemd{Program: "systemctl"}
			}
			return nodeagent.Run(logr.NewContext(cmd.Context(), logger), o)
		},
	}
	o.AddFlags(cmd.Flags())
	options.AddLoggingFlags(&log, cmd.Flags())
	cmd.AddCommand(newNodeAgentFetchCommand())
	return cmd
}

// newNodeAgentFetchCommand is for the user data of machines. What it does is known to the agent that starts afterwards.
func newNodeAgentFetchCommand() *cobra.Command {
	o := nodeagent.FetchOptions{}
	cmd := &cobra.Command{
		Use:   "fetch",
		Short: "Put a file of a container image in place on this machine",
		Long: `Takes one file out of an image, which the containerd of this machine has or else its registry, and writes it. It is called when a machine
starts, before the agent runs; the agent keeps the file afterwards if it is part of the configuration of its worker pool. A file that is as it was
taken from the image is left alone.`,
		Example: `  terrarium node-agent fetch --image registry.example.org/tools:v1 --path-in-image /usr/bin/tool --path /opt/bin/tool --mode 0755`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.Validate()...); err != nil {
				return err
			}
			return nodeagent.Fetch(cmd.Context(), o)
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
