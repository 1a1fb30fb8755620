// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The environment variables of a gardenlet.
const (
	envPodName     = "POD_NAME"
	envImageVector = "IMAGEVECTOR_OVERWRITE"
)

type gardenletOptions struct {
	env    Environment
	config string
	log    telemetry.Options
}

func newGardenletCommand(env Environment) *cobra.Command {
	o := &gardenletOptions{env: env}
	cmd := &cobra.Command{
		Use:   "gardenlet",
		Short: "Run the gardenlet of a seed, or make a cluster a seed",
		Long: `Runs a gardenlet until it is told to stop: the agent that looks after one seed on behalf of a garden. It is the same as a
process on any machine that reaches both clusters, and as a Deployment in the seed, which "terrarium gardenlet join" makes. It
logs to the standard error stream.`,
		Example: `  terrarium gardenlet --config gardenlet.yaml
  terrarium gardenlet join https://garden.example.org:6443 --token T10… --name eu-1 --provider local --region local`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.config, "config", "", "GardenletConfiguration; - is the standard input")
	options.AddLoggingFlags(&o.log, cmd.Flags())
	cmd.AddCommand(newGardenletJoinCommand(env), newGardenletLeaveCommand(env))
	return cmd
}

func (o *gardenletOptions) validate() []error {
	errs := o.log.Validate()
	if o.config == "" {
		errs = append(errs, errors.New(`--config: a configuration is needed; "terrarium gardenlet join" makes one`))
	}
	return errs
}

func (o *gardenletOptions) run(ctx context.Context) error {
	data, err := readInput(o.env, o.config)
	if err != nil {
		return fmt.Errorf("read configuration file: %w", err)
	}
	return runGardenlet(ctx, o.env, data, o.log)
}

// runGardenlet runs a gardenlet until ctx ends. Flags win over the configuration where it says how to log.
func runGardenlet(ctx context.Context, env Environment, data []byte, flags telemetry.Options) error {
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		return err
	}
	if flags.Level != "" {
		config.LogLevel = string(flags.Level)
	}
	if flags.Format != "" {
		config.LogFormat = string(flags.Format)
	}
	logging := telemetry.Options{Level: telemetry.Level(config.LogLevel), Format: telemetry.Format(config.LogFormat)}
	if err := errors.Join(logging.Validate()...); err != nil {
		return fmt.Errorf("gardenlet configuration: %w", err)
	}
	log, err := processLog(env, logging)
	if err != nil {
		return err
	}
	pod := env.Getenv(envPodName)
	completed, err := gardenlet.Options{
		Config: config, Log: log, Version: options.Version, APILevel: options.GardenerAPILevel,
		Name: pod, Exclusive: pod != "", ImageVectorOverwrite: env.Getenv(envImageVector), Clock: env.Clock,
	}.Complete()
	if err != nil {
		return err
	}
	log.Info("Gardenlet starting", "version", options.Version, "seed", config.SeedConfig.Name)
	return completed.Run(ctx)
}
