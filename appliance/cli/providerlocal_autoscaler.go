// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

type autoscalerOptions struct {
	env            Environment
	kubeconfig     string
	seedKubeconfig string
	nodes          []string
	expander       string
	health         string
	metrics        string
	scaling        autoscaler.Options
	logging        telemetry.Options
}

func newProviderLocalAutoscalerCommand(env Environment) *cobra.Command {
	o := &autoscalerOptions{env: env}
	cmd := &cobra.Command{
		Use:   "cluster-autoscaler",
		Short: "Run the cluster autoscaler of a shoot with local machines",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.complete()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the shoot")
	fs.StringVar(&o.seedKubeconfig, "seed-kubeconfig", "", "kubeconfig of the seed (default: the pod's service account)")
	fs.StringVar(&o.scaling.Namespace, "namespace", "", "namespace of the machines in the seed")
	fs.StringArrayVar(&o.nodes, "nodes", nil, "machine deployment to scale, as <minimum>:<maximum>:<namespace>.<name>; may be repeated")
	fs.StringVar(&o.expander, "expander", autoscaler.LeastWaste, "how to choose among machine deployments, separated by commas: least-waste, most-pods, least-nodes, priority, random")
	fs.StringVar(&o.health, "health-address", "", "address for /healthz and /readyz; empty to disable them")
	fs.StringVar(&o.metrics, "metrics-address", "", "address for /metrics; empty to disable it")
	addScalingFlags(&o.scaling, fs)
	options.AddLoggingFlags(&o.logging, fs)
	return cmd
}

// addScalingFlags adds the flags that the upstream autoscaler has too.
func addScalingFlags(o *autoscaler.Options, fs *pflag.FlagSet) {
	fs.DurationVar(&o.ScanInterval, "scan-interval", 10*time.Second, "time between two passes")
	fs.DurationVar(&o.NewPodScaleUpDelay, "new-pod-scale-up-delay", 0, "age from which a pod brings a machine")
	fs.DurationVar(&o.MaxNodeProvisionTime, "max-node-provision-time", 20*time.Minute, "how long a machine may take to become a node")
	fs.DurationVar(&o.InitialBackoff, "initial-node-group-backoff-duration", 5*time.Minute, "how long a machine deployment is left alone after its machines did not come")
	fs.DurationVar(&o.MaxBackoff, "max-node-group-backoff-duration", 30*time.Minute, "the same if they failed to come again and again")
	fs.DurationVar(&o.BackoffReset, "node-group-backoff-reset-timeout", 3*time.Hour, "how long after a failure the first duration counts again")
	fs.DurationVar(&o.ScaleDownUnneededTime, "scale-down-unneeded-time", 30*time.Minute, "how long a node must not be needed until its machine goes")
	fs.DurationVar(&o.ScaleDownUnreadyTime, "scale-down-unready-time", 20*time.Minute, "the same for a node that is not ready")
	fs.DurationVar(&o.ScaleDownDelayAfterAdd, "scale-down-delay-after-add", time.Hour, "how long no machine goes after one was added")
	fs.DurationVar(&o.ScaleDownDelayAfterDelete, "scale-down-delay-after-delete", 0, "how long no machine goes after one went")
	fs.DurationVar(&o.ScaleDownDelayAfterFailure, "scale-down-delay-after-failure", 3*time.Minute, "how long no machine goes after a removal failed")
	fs.Float64Var(&o.ScaleDownUtilizationThreshold, "scale-down-utilization-threshold", 0.5, "share of requested resources below which a node may be unneeded")
	fs.Float64Var(&o.ScaleDownGPUUtilizationThreshold, "scale-down-gpu-utilization-threshold", 0.5, "the same for nodes with graphics processors, of which only these count")
	fs.IntVar(&o.MaxGracefulTermination, "max-graceful-termination-sec", 600, "seconds that pods of a node that goes have at most to end")
	fs.DurationVar(&o.MaxBinpackingTime, "max-binpacking-time", 5*time.Minute, "how long a pass looks for further machine deployments once one would help; 0 without end")
	fs.IntVar(&o.Verbosity, "v", 2, "what the log has beside what was scaled and what failed: 2 news, 4 each pass, 5 each node")
	fs.BoolVar(&o.GroupMetrics, "emit-per-nodegroup-metrics", false, "serve metrics of each machine deployment")
	fs.BoolVar(&o.IgnoreDaemonSets, "ignore-daemonsets-utilization", false, "leave pods of DaemonSets out of the utilization")
	fs.IntVar(&o.MaxScaleDownParallelism, "max-scale-down-parallelism", 10, "how many nodes go at once")
	fs.IntVar(&o.MaxDrainParallelism, "max-drain-parallelism", 1, "how many of these may have pods that move")
	fs.StringArrayVar(&o.StartupTaints, "startup-taint", nil, "key of a taint of nodes that start; may be repeated")
	fs.StringArrayVar(&o.StatusTaints, "status-taint", nil, "key of a taint that comes and goes; may be repeated")
}

func (o *autoscalerOptions) complete() []error {
	errs := o.logging.Validate()
	if o.kubeconfig == "" {
		errs = append(errs, errors.New("--kubeconfig: required: the kubeconfig of the shoot"))
	}
	if err := o.scaling.SetGroups(o.nodes); err != nil {
		errs = append(errs, fmt.Errorf("--nodes: %w", err))
	}
	o.scaling.Expanders = strings.Split(o.expander, ",")
	if err := o.scaling.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (o *autoscalerOptions) run(ctx context.Context) error {
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
	return autoscaler.Run(ctx, autoscaler.Process{Options: o.scaling, Shoot: shoot, Seed: seed, HealthAddress: o.health, MetricsAddress: o.metrics, Log: log})
}
