// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloudcontroller"
)

type cloudControllerOptions struct {
	env            Environment
	kubeconfig     string
	seedKubeconfig string
	namespace      string
	health         string
	logging        telemetry.Options
}

func newProviderLocalCloudControllerCommand(env Environment) *cobra.Command {
	o := &cloudControllerOptions{env: env}
	cmd := &cobra.Command{
		Use:   "cloud-controller",
		Short: "Run the cloud controller of a shoot with local machines",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the shoot")
	cmd.Flags().StringVar(&o.seedKubeconfig, "seed-kubeconfig", "", "kubeconfig of the seed (default: the pod's service account)")
	cmd.Flags().StringVar(&o.namespace, "namespace", "", "namespace of the machines in the seed")
	cmd.Flags().StringVar(&o.health, "health-address", "", "address for /healthz and /readyz; empty to disable them")
	options.AddLoggingFlags(&o.logging, cmd.Flags())
	return cmd
}

func (o *cloudControllerOptions) validate() []error {
	errs := o.logging.Validate()
	if o.kubeconfig == "" {
		errs = append(errs, errors.New("--kubeconfig: required: the kubeconfig of the shoot"))
	}
	if o.namespace == "" {
		errs = append(errs, errors.New("--namespace: required: the namespace of the machines"))
	}
	return errs
}

func (o *cloudControllerOptions) run(ctx context.Context) error {
	log, err := processLog(o.env, o.logging)
	if err != nil {
		return err
	}
	shoot, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	seed, err := clusterConfig(o.seedKubeconfig)
	if err != nil {
		return err
	}
	return cloudcontroller.Run(ctx, cloudcontroller.Options{Shoot: shoot, Seed: seed, Namespace: o.namespace, HealthAddress: o.health, Log: log})
}
