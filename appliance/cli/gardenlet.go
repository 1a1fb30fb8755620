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
	"github.com/terrarium-garden/terrarium/controllers/component/images"
)

// envPodName is the environment variable with the name of the gardenlet's pod.
const envPodName = "POD_NAME"

type gardenletOptions struct {
	env    Environment
	config string
	log    telemetry.Options
}

func newGardenletCommand(env Environment) *cobra.Command {
	o := &gardenletOptions{env: env}
	cmd := &cobra.Command{
		Use:   "gardenlet",
		Short: "Run the gardenlet of a seed, or register a cluster as a seed",
		Long: `Runs a gardenlet, the agent of one seed, until it is interrupted. A gardenlet runs as a process on any machine that reaches
both clusters, or as a Deployment in the seed, which "terrarium gardenlet join" creates. It logs to the standard error
stream.`,
		Example: `  terrarium gardenlet --config gardenlet.yaml
  terrarium gardenlet join https://garden.example.org:6443 --token T10… --name eu-1 --provider local --region local`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.config, "config", "", "path of a GardenletConfiguration file, or - for the standard input")
	options.AddLoggingFlags(&o.log, cmd.Flags())
	cmd.AddCommand(newGardenletJoinCommand(env), newGardenletLeaveCommand(env))
	return cmd
}

func (o *gardenletOptions) validate() []error {
	errs := o.log.Validate()
	if o.config == "" {
		errs = append(errs, errors.New(`--config: required; "terrarium gardenlet join" creates a configuration`))
	}
	return errs
}

func (o *gardenletOptions) run(ctx context.Context) error {
	data, err := readInput(o.env, o.config)
	if err != nil {
		return fmt.Errorf("read configuration file: %w", err)
	}
	return runGardenlet(ctx, o.env, gardenletRun{config: data, log: o.log, imageVector: o.env.Getenv(images.OverwriteVariable)})
}

// gardenletRun holds the parameters of a gardenlet in this process.
type gardenletRun struct {
	config []byte
	// log takes precedence over the logging settings of the configuration.
	log telemetry.Options
	// imageVector is the path of a file that replaces images.
	imageVector string
}

// runGardenlet runs a gardenlet until ctx ends.
func runGardenlet(ctx context.Context, env Environment, run gardenletRun) error {
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(run.config)
	if err != nil {
		return err
	}
	if run.log.Level != "" {
		config.LogLevel = string(run.log.Level)
	}
	if run.log.Format != "" {
		config.LogFormat = string(run.log.Format)
	}
	logging := telemetry.Options{Level: telemetry.Level(config.LogLevel), Format: telemetry.Format(config.LogFormat)}
	if err := errors.Join(append(logging.Validate(), gardenlet.ValidateConfig(config)...)...); err != nil {
		return fmt.Errorf("gardenlet configuration: %w", err)
	}
	log, err := processLog(env, logging)
	if err != nil {
		return err
	}
	gardenlet.RouteLogs(log)
	ignored, err := config.Ignored()
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		log.Info("Some fields of the configuration have no effect yet", "fields", ignored)
	}
	pod := env.Getenv(envPodName)
	completed, err := gardenlet.Options{
		Config: config, Log: log, Version: options.Version, APILevel: options.GardenerAPILevel,
		Name: pod, Exclusive: pod != "", ImageVectorOverwrite: run.imageVector, Clock: env.Clock,
	}.Complete()
	if err != nil {
		return err
	}
	log.Info("Gardenlet starting", "version", options.Version, "seed", config.SeedConfig.Name)
	return completed.Run(ctx)
}
