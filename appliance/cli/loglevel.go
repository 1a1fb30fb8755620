// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// logLevelPath is the path of the level of the server's log.
const logLevelPath = "/appliance/log-level"

type logLevelOptions struct {
	env        Environment
	connection options.Connection
	level      string
}

func newLogLevelCommand(env Environment) *cobra.Command {
	o := &logLevelOptions{env: env}
	var levels []string
	for _, level := range telemetry.Levels() {
		levels = append(levels, string(level))
	}
	cmd := &cobra.Command{
		Use:   "log-level [LEVEL]",
		Short: "Show or change how much a running server logs",
		Long: `Shows the level of the log of a running server, or changes it until the next start. The level of a start is logLevel in the
configuration.`,
		Example: `  terrarium log-level
  terrarium log-level debug`,
		ValidArgs: levels,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return choice("level", levels...)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.level = slices.Concat(args, []string{""})[0]
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	return cmd
}

func (o *logLevelOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	request := g.client.Discovery().RESTClient().Get()
	if o.level != "" {
		body, err := json.Marshal(map[string]string{"level": o.level})
		if err != nil {
			return err
		}
		request = g.client.Discovery().RESTClient().Put().SetHeader("Content-Type", "application/json").Body(body)
	}
	data, err := raw(ctx, request.AbsPath(logLevelPath))
	if err != nil {
		return fmt.Errorf("log level of the server: %w", err)
	}
	var is struct {
		Level string `json:"level"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return fmt.Errorf("read log level: %w", err)
	}
	_, err = fmt.Fprintln(o.env.Out, is.Level)
	return err
}
