// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/notify"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
)

// envImage is the environment variable with the container image of the gardenlet, from which the resource manager of the seed runs too.
const envImage = "TERRARIUM_IMAGE"

// defaultImage is the container image of this version.
func defaultImage() string { return "terrarium.garden/terrarium:" + build.Version }

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
			return o.run(cmd)
		},
	}
	addConfigFlag(cmd.Flags(), &o.config)
	options.AddLoggingFlags(&o.log, cmd.Flags())
	cmd.AddCommand(newGardenletJoinCommand(env), newGardenletLeaveCommand(env))
	return cmd
}

// addConfigFlag adds the flag for the configuration file of a gardenlet.
func addConfigFlag(fs *pflag.FlagSet, path *string) {
	fs.StringVar(path, "config", "",
		"path of a GardenletConfiguration file, or - for the standard input; drop-ins FILE.d/*.yaml take precedence over it (default "+
			filepath.Join(options.ConfigDir, options.GardenletFile)+", if it exists)")
}

func (o *gardenletOptions) validate() []error { return o.log.Validate() }

func (o *gardenletOptions) run(cmd *cobra.Command) error {
	_, config, err := readGardenlet(o.env, o.config)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if config == nil {
		return usage(cmd, errors.New(`--config: required; "terrarium gardenlet join" creates a configuration`))
	}
	return runGardenlet(cmd.Context(), o.env, gardenletRun{config: config, log: o.log, imageVector: o.env.Getenv(images.OverwriteVariable)})
}

// gardenletRun holds the parameters of a gardenlet in this process.
type gardenletRun struct {
	config *gardenconfigv1alpha1.GardenletConfiguration
	// log takes precedence over the logging settings of the configuration.
	log telemetry.Options
	// imageVector is the path of a file that replaces images.
	imageVector string
}

// runGardenlet runs a gardenlet until ctx ends.
func runGardenlet(ctx context.Context, env Environment, run gardenletRun) error {
	config := run.config
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
	service, err := notify.FromEnvironment(env.Clock, log.WithName("service"))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, service.Stopping)()
	life, end := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer end()
	completed, err := gardenlet.Options{
		Config: config, Log: log, Version: build.Version, APILevel: build.GardenerAPILevel,
		Name: pod, Exclusive: pod != "", ImageVectorOverwrite: run.imageVector, Clock: env.Clock,
		Image: cmp.Or(env.Getenv(envImage), defaultImage()),
		Ready: func() {
			service.Ready("Gardenlet of seed " + config.SeedConfig.Name + " ready")
			watching.Go(func() { service.Watch(life, probeGardenlet(config.Server.HealthProbes)) })
		},
	}.Complete()
	if err != nil {
		return err
	}
	log.Info("Gardenlet starting", "version", build.Version, "seed", config.SeedConfig.Name)
	return completed.Run(ctx)
}

// probeGardenlet returns the health check of a gardenlet with the given endpoint. Without the endpoint, a process that runs is healthy.
func probeGardenlet(endpoint *gardenconfigv1alpha1.Endpoint) func(ctx context.Context) error {
	if endpoint == nil || endpoint.Port < 1 {
		return func(context.Context) error { return nil }
	}
	host := endpoint.BindAddress
	if address, err := netip.ParseAddr(host); err != nil || address.IsUnspecified() {
		host = "localhost"
	}
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(endpoint.Port)) + "/healthz"
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error { return notify.Probe(ctx, client, url) }
}
