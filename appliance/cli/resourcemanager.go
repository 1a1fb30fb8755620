// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

const (
	// shortestSync bounds how often a resource manager asks the clusters about all objects.
	shortestSync = time.Second
	// shortestCollection bounds how often it looks for garbage.
	shortestCollection = time.Minute
	// shortestToken is the shortest life of a token that Kubernetes accepts.
	shortestToken = 10 * time.Minute
)

type resourceManagerOptions struct {
	env        Environment
	kubeconfig string
	manager    resourcemanager.Options
	// policies are the selectors of PolicyNamespaces, and ingress that of the pods of Ingress.
	policies []string
	ingress  string
	// notReady and unreachable are the seconds of NodeTolerations.
	notReady, unreachable int64
	log                   telemetry.Options
}

func newResourceManagerCommand(env Environment) *cobra.Command {
	o := &resourceManagerOptions{env: env}
	cmd := &cobra.Command{
		Use:   "resource-manager",
		Short: "Run the resource manager of a seed and its shoots",
		Long: `Runs the resource manager of a seed until it is interrupted. It applies the objects of all ManagedResources of the seed: those of
the class "seed" to the seed itself, those without a class to the shoot of their namespace. It also keeps the tokens that Secrets
of control planes ask for, and answers webhooks of the seed. Of several processes with the same lease namespace, one is active; all of
them answer webhooks.`,
		Example: `  terrarium resource-manager --kubeconfig seed.kubeconfig
  terrarium resource-manager --lease-namespace garden --cluster-id '<default>' --health-address :8081 --metrics-address :8080`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the seed (default: the pod's service account)")
	fs.StringVar(&o.manager.Namespace, "lease-namespace", "", "namespace of the lease that makes one of several processes the active one; empty for a process that is alone")
	fs.StringVar(&o.manager.ClusterID, "cluster-id", "", `text before the origin of objects: a name, "<cluster>" for the identity of the seed, or "<default>" for that identity if it has one`)
	fs.DurationVar(&o.manager.SyncPeriod, "sync-period", resourcemanager.DefaultSyncPeriod, "time after which objects are applied and judged again")
	fs.DurationVar(&o.manager.GarbagePeriod, "garbage-collector-sync-period", 0, "time between two collections of ConfigMaps and Secrets that nothing refers to; 0 to keep them")
	fs.StringVar(&o.manager.WebhookAddress, "webhook-address", "", "address for the webhooks of the seed; empty to disable them")
	fs.StringVar(&o.manager.ShootWebhookAddress, "shoot-webhook-address", "", "address for the webhooks of shoots; empty to disable them")
	fs.StringVar(&o.manager.WebhookCertificates, "webhook-certificates", "", "folder with tls.crt and tls.key of the webhooks; required with their addresses")
	fs.DurationVar(&o.manager.TokenExpiration, "projected-token-mount-expiration", webhooks.DefaultTokenExpiration, "how long tokens are valid that a webhook gives to pods")
	fs.StringVar(&o.manager.PodScheduler, "pod-scheduler-name", "", "scheduler that a webhook gives to pods of control planes; empty to leave them to the one of the seed")
	fs.Int64Var(&o.notReady, "default-not-ready-toleration-seconds", webhooks.DefaultNodeToleration, "how many seconds pods in namespaces of extensions stay on a node that is not ready, unless they say it themselves")
	fs.Int64Var(&o.unreachable, "default-unreachable-toleration-seconds", webhooks.DefaultNodeToleration, "how many seconds pods in namespaces of extensions stay on a node that does not answer, unless they say it themselves")
	fs.StringArrayVar(&o.policies, "network-policy-namespaces", nil, "label selector of namespaces in which all traffic is denied that no network policy allows; may be repeated; without one no network policies are made for Services")
	fs.StringVar(&o.manager.Ingress.Namespace, "ingress-controller-namespace", gardencorev1beta1.NamespaceGarden, "namespace of the pods of the ingress controller, which get network policies to the back ends of Ingresses")
	fs.StringVar(&o.ingress, "ingress-controller-labels", "app=nginx-ingress,component=controller", "labels of the pods of the ingress controller; empty for none")
	fs.StringVar(&o.manager.HealthAddress, "health-address", "", "address for /healthz and /readyz; empty to disable them")
	fs.StringVar(&o.manager.MetricsAddress, "metrics-address", "", "address for /metrics; empty to disable it")
	options.AddLoggingFlags(&o.log, fs)
	return cmd
}

func (o *resourceManagerOptions) validate() []error {
	errs := o.log.Validate()
	if o.manager.SyncPeriod < shortestSync {
		errs = append(errs, fmt.Errorf("--sync-period: %s is shorter than %s", o.manager.SyncPeriod, shortestSync))
	}
	if o.manager.GarbagePeriod != 0 && o.manager.GarbagePeriod < shortestCollection {
		errs = append(errs, fmt.Errorf("--garbage-collector-sync-period: %s is shorter than %s", o.manager.GarbagePeriod, shortestCollection))
	}
	if (o.manager.WebhookAddress != "" || o.manager.ShootWebhookAddress != "") && o.manager.WebhookCertificates == "" {
		errs = append(errs, errors.New("--webhook-certificates: webhooks need a certificate"))
	}
	if o.manager.TokenExpiration < shortestToken {
		errs = append(errs, fmt.Errorf("--projected-token-mount-expiration: %s is shorter than %s", o.manager.TokenExpiration, shortestToken))
	}
	if o.notReady < 0 || o.unreachable < 0 {
		errs = append(errs, errors.New("--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds: must not be negative"))
	}
	o.manager.NodeTolerations = webhooks.NodeTolerations{NotReady: &o.notReady, Unreachable: &o.unreachable}
	var err error
	if o.manager.PolicyNamespaces, err = reach.ParseNamespaces(o.policies); err != nil {
		errs = append(errs, fmt.Errorf("--network-policy-namespaces: %w", err))
	}
	if o.manager.Ingress.Pods, err = labels.ConvertSelectorToLabelsMap(o.ingress); err != nil {
		errs = append(errs, fmt.Errorf("--ingress-controller-labels: %w", err))
	}
	return errs
}

func (o *resourceManagerOptions) run(ctx context.Context) error {
	var err error
	if o.manager.Log, err = processLog(o.env, o.log); err != nil {
		return err
	}
	if o.manager.Seed, err = clusterConfig(o.kubeconfig); err != nil {
		return err
	}
	o.manager.Clock = o.env.Clock
	return resourcemanager.Run(ctx, o.manager)
}
