// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloudcontroller"
)

type cloudControllerOptions struct {
	env             Environment
	kubeconfig      string
	seedKubeconfig  string
	cloudKubeconfig string
	cloudRefused    []string
	cloudUID        string
	namespace       string
	health          string
	logging         telemetry.Options
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
	cmd.Flags().StringVar(&o.cloudKubeconfig, "cloud-kubeconfig", "", "kubeconfig of another cluster than the seed that has the machines, from a user")
	cmd.Flags().StringVar(&o.cloudUID, "cloud-uid", "", "UID that the namespace kube-system of that cluster must have")
	cmd.Flags().StringSliceVar(&o.cloudRefused, "cloud-refused", nil, "networks in which that cluster must not be")
	cmd.Flags().StringVar(&o.namespace, "namespace", "", "namespace of the machines in their cluster")
	cmd.Flags().StringVar(&o.health, "health-address", "", "address for /healthz and /readyz; empty to disable them")
	options.AddLoggingFlags(&o.logging, cmd.Flags())
	return cmd
}

func (o *cloudControllerOptions) validate() []error {
	errs := o.logging.Validate()
	if o.kubeconfig == "" {
		errs = append(errs, errors.New("--kubeconfig: required: the kubeconfig of the shoot"))
	}
	if o.cloudKubeconfig != "" && o.seedKubeconfig != "" {
		errs = append(errs, errors.New("--cloud-kubeconfig: the machines are there or in the seed: remove it or --seed-kubeconfig"))
	}
	for _, network := range o.cloudRefused {
		if _, err := netip.ParsePrefix(network); err != nil {
			errs = append(errs, fmt.Errorf("--cloud-refused: %q is not a network such as 10.0.0.0/8", network))
		}
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
	machines, err := o.cloud()
	if err != nil {
		return err
	}
	return cloudcontroller.Run(ctx, cloudcontroller.Options{
		Shoot: shoot, Cloud: machines, Place: o.cloudUID, Namespace: o.namespace, HealthAddress: o.health, Log: log,
	})
}

// cloud is the connection to the cluster of the machines.
func (o *cloudControllerOptions) cloud() (*rest.Config, error) {
	if o.cloudKubeconfig == "" {
		return clusterConfig(o.seedKubeconfig)
	}
	data, err := os.ReadFile(o.cloudKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the cluster of the machines: %w", err)
	}
	var refused []netip.Prefix
	for _, text := range o.cloudRefused {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("read refused network: %w", err)
		}
		refused = append(refused, network)
	}
	config, err := cloud.Config(data, refused)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", o.cloudKubeconfig, err)
	}
	return config, nil
}
