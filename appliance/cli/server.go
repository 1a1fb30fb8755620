// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/memory"
	"github.com/terrarium-garden/terrarium/appliance/notify"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

type serverOptions struct {
	env       Environment
	options   options.Server
	completed options.CompletedServer
}

func newServerCommand(env Environment) *cobra.Command {
	o := &serverOptions{env: env}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run a garden: API server, database, controllers and scheduler in one process",
		Long: `Runs a garden until it is interrupted. The first start creates keys and certificates, the databases, and a kubeconfig for
administrators in the data directory. The server logs to the standard error stream.`,
		Example: `  terrarium server
  terrarium server --listen 0.0.0.0:6443 --external-address garden.example.org --external-address 203.0.113.9
  terrarium server --config /etc/terrarium/server.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := o.validate(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.options.AddFlags(cmd.Flags())
	return cmd
}

func (o *serverOptions) complete() error {
	o.options.DefaultFile = o.env.defaultFile(roleServer)
	var err error
	o.completed, err = o.options.Complete(o.env.files())
	return err
}

func (o *serverOptions) validate(cmd *cobra.Command) error {
	flags, file := o.completed.Validate()
	if len(flags) > 0 {
		return usage(cmd, append(flags, file...)...)
	}
	return errors.Join(file...)
}

func (o *serverOptions) run(ctx context.Context) error {
	config := o.completed.Configuration()
	logs := telemetry.NewControl(telemetry.Level(config.LogLevel))
	log, err := processLog(o.env, telemetry.Options{
		Level: telemetry.Level(config.LogLevel), Format: telemetry.Format(config.LogFormat), Control: logs,
	})
	if err != nil {
		return err
	}
	kine.RouteLogs(log.WithName("kine"), config.Datastore.Endpoint)
	log.Info("Garden starting", "version", build.Version, "dataDir", config.DataDir, "listen", config.Listen, "configuration", o.completed.Files())
	limit := memory.Default("/")
	if given := config.Memory.Limit; given != nil {
		limit = given.Value()
	}
	ready := memory.Limit(limit)
	service, err := notify.FromEnvironment(o.env.Clock, log.WithName("service"))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, service.Stopping)()
	life, end := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	defer keeping.Wait()
	defer end()
	waiting, endWaiting := context.WithCancel(life)
	defer endWaiting()
	return server.Run(ctx, server.Options{
		Config: config, Log: log, Logs: logs, Version: build.Version, Clock: o.env.Clock, MemoryLimit: limit,
		Standby: sync.OnceFunc(func() {
			service.Ready("Standing by: requests are forwarded to the server that leads")
			keeping.Go(func() { service.Watch(waiting, func(context.Context) error { return nil }) })
		}),
		Ready: func(garden server.Garden) {
			endWaiting()
			ready()
			service.Ready("Garden ready at " + garden.Server)
			keeping.Go(func() { memory.Keep(life, o.env.Clock, log.WithName("memory")) })
			keeping.Go(func() {
				service.Watch(life, func(ctx context.Context) error { return probeGarden(ctx, garden) })
			})
		},
	})
}

// probeGarden requests the health of a garden over a new connection, as a client on this machine does.
func probeGarden(ctx context.Context, garden server.Garden) error {
	config, err := clientcmd.BuildConfigFromFlags(garden.Local, garden.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	return notify.Probe(ctx, client, garden.Local+"/livez")
}
