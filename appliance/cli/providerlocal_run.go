// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

type providerLocalRunOptions struct {
	env        Environment
	kubeconfig string
	namespace  string
	health     string
	unasked    bool
	images     local.Images
	logging    telemetry.Options
}

func newProviderLocalRunCommand(env Environment) *cobra.Command {
	o := &providerLocalRunOptions{env: env}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Reconcile the extension objects of type local in a seed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, validateImages(o.images), errors.Join(o.logging.Validate()...)); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the seed (default: the pod's service account)")
	cmd.Flags().StringVar(&o.namespace, "namespace", "", "namespace of the extension for its heartbeat lease; empty to disable it")
	cmd.Flags().StringVar(&o.health, "health-address", "", "address for /healthz and /readyz; empty to disable them")
	cmd.Flags().BoolVar(&o.unasked, "ignore-operation-annotation", false, "for tests: act on every change of an object, its Cluster and its Secret, and not only when asked to")
	addImageFlags(cmd.Flags(), &o.images)
	options.AddLoggingFlags(&o.logging, cmd.Flags())
	return cmd
}

func (o *providerLocalRunOptions) run(ctx context.Context) error {
	log, err := processLog(o.env, o.logging)
	if err != nil {
		return err
	}
	seed, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	return local.Run(ctx, local.Options{
		Seed:          seed,
		Images:        o.images,
		Namespace:     o.namespace,
		HealthAddress: o.health,
		Log:           log,

		IgnoreOperationAnnotation: o.unasked,
	})
}
