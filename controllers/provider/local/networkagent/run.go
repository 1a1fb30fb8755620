// SPDX-License-Identifier: Apache-2.0

// Package networkagent configures the pod network of local shoots on each node. From the Nodes of the shoot it derives the CNI
// configuration for the node's share of the pod network, a route to the share of every other node, and a rule that masquerades
// traffic that leaves the pod network. It owns the routes with its own protocol number and one nftables table, and changes no
// others.
package networkagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// resync is the maximum time until changes of the routes by others are repaired.
	resync = 30 * time.Second
	// retry is the pause between attempts to reach the API server, attempt is the time limit of each.
	retry   = 500 * time.Millisecond
	attempt = 3 * time.Second
)

// Options of the agent.
type Options struct {
	// Kubeconfig of the shoot; empty means the pod's own service account.
	Kubeconfig string
	// Node is the name of the node that the agent runs on.
	Node string
	// PodNetwork is the network of all pods of the shoot in CIDR notation.
	PodNetwork string
	// ConfigDir is the CNI configuration folder of the machine.
	ConfigDir string
	// HostRoot is where the root file system of the machine is mounted.
	HostRoot string
}

// AddFlags binds the options to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of the shoot (default: the pod's service account)")
	flags.StringVar(&o.Node, "node-name", os.Getenv("NODE_NAME"), "name of the node (default: $NODE_NAME)")
	flags.StringVar(&o.PodNetwork, "pod-network", "", "network of all pods of the shoot, in CIDR notation")
	flags.StringVar(&o.ConfigDir, "config-dir", "/etc/cni/net.d", "CNI configuration folder of the machine")
	flags.StringVar(&o.HostRoot, "host-root", "/host", "where the root file system of the machine is mounted")
}

// Run parses args as flags and configures the network of the node until ctx ends. It logs to the logger in ctx, or else to
// standard error.
func Run(ctx context.Context, args []string) error {
	options := Options{}
	flags := pflag.NewFlagSet("network-agent", pflag.ContinueOnError)
	options.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("network-agent: %w", err)
	}
	if _, err := logr.FromContext(ctx); err != nil {
		ctx = logr.NewContext(ctx, logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	}
	return options.Run(ctx)
}

// Run configures the network of the node until ctx ends.
func (o Options) Run(ctx context.Context) error {
	if o.Node == "" {
		return errors.New("--node-name: the name of the node is required")
	}
	podNetwork, err := netip.ParsePrefix(o.PodNetwork)
	if err != nil || !podNetwork.Addr().Is4() {
		return fmt.Errorf("--pod-network: %q is not an IPv4 network", o.PodNetwork)
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := nft(ctx, o.HostRoot, Masquerade(podNetwork.Masked())); err != nil {
		return err
	}
	if err := awaitServer(ctx, client); err != nil {
		return nil //nolint:nilerr // only the end of ctx ends the wait
	}
	return o.watch(ctx, podNetwork.Masked(), client)
}

// awaitServer waits until the API server answers. On a new node, kube-proxy makes it reachable a moment after this program starts. A watch
// that started earlier would retry with growing pauses, and the node would have no network until then.
func awaitServer(ctx context.Context, client kubernetes.Interface) error {
	log := logr.FromContextOrDiscard(ctx)
	told := false
	return wait.PollUntilContextCancel(ctx, retry, true, func(ctx context.Context) (bool, error) {
		limited, cancel := context.WithTimeout(ctx, attempt)
		defer cancel()
		_, err := client.CoreV1().Nodes().List(limited, metav1.ListOptions{Limit: 1})
		if err != nil && !told {
			log.Info("Waiting for the API server", "reason", err.Error())
			told = true
		}
		return err == nil, nil
	})
}

func (o Options) config() (*rest.Config, error) {
	if o.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("find the shoot: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %q: %w", o.Kubeconfig, err)
	}
	return config, nil
}

// watch applies the plan when a Node changes, and once in every resync period.
func (o Options) watch(ctx context.Context, podNetwork netip.Prefix, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	changed := make(chan struct{}, 1)
	signal := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	_, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { signal() },
		UpdateFunc: func(any, any) { signal() },
		DeleteFunc: func(any) { signal() },
	})
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), nodes.Informer().HasSynced) {
		return nil
	}
	ticker := time.NewTicker(resync)
	defer ticker.Stop()
	for {
		o.sync(ctx, podNetwork, nodes.Lister())
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-ticker.C:
		}
	}
}

// sync applies the plan. Errors are logged and retried with the next change or resync.
func (o Options) sync(ctx context.Context, podNetwork netip.Prefix, lister corev1listers.NodeLister) {
	log := logr.FromContextOrDiscard(ctx)
	nodes, err := lister.List(labels.Everything())
	if err != nil {
		log.Error(err, "Nodes cannot be listed")
		return
	}
	if err := o.Apply(MakePlan(o.Node, podNetwork, nodes)); err != nil {
		log.Error(err, "Network of the node is not as planned")
	}
}

// Apply configures the network of this machine as planned. An error in one part does not stop the others.
func (o Options) Apply(plan Plan) error {
	errs := []error{syncRoutes(plan.Routes)}
	if plan.Share.IsValid() {
		data, err := CNIConfig(plan.Share)
		if err == nil {
			err = writeConfig(o.ConfigDir, data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
