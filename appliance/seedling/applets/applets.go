// SPDX-License-Identifier: Apache-2.0

package applets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's sign-in plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/utils/clock"
	tunnelagent "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app"
	tunnelagentoptions "sigs.k8s.io/apiserver-network-proxy/cmd/agent/app/options"
	tunnelserver "sigs.k8s.io/apiserver-network-proxy/cmd/server/app"
	tunnelserveroptions "sigs.k8s.io/apiserver-network-proxy/cmd/server/app/options"
	metricsserver "sigs.k8s.io/metrics-server/cmd/metrics-server/app"

	"github.com/terrarium-garden/terrarium/appliance/seedling/coredns"
	"github.com/terrarium-garden/terrarium/appliance/seedling/multicall"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineunits"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/networkagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumeagent"
)

// The programs of a cluster; each name is also the name of a link in the images.
const (
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	Proxy             = "kube-proxy"
	Etcd              = "etcd"
	Kubectl           = "kubectl"
	CoreDNS           = "coredns"
	NodeCache         = "node-cache"
	TunnelServer      = "proxy-server"
	TunnelAgent       = "proxy-agent"
	NetworkAgent      = "network-agent"
	NodeAgent         = "node-agent"
	VolumeAgent       = "volume-agent"
	MetricsServer     = "metrics-server"
)

// All returns all programs. They handle signals themselves; ctx is the parent of their contexts.
func All(ctx context.Context) multicall.Table {
	return multicall.Table{
		{Name: APIServer, Run: component(apiserver.NewAPIServerCommand)},
		{Name: ControllerManager, Run: component(controllermanager.NewControllerManagerCommand)},
		{Name: Scheduler, Run: component(func() *cobra.Command { return scheduler.NewSchedulerCommand() })},
		{Name: Kubelet, Run: component(func() *cobra.Command { return kubelet.NewKubeletCommand(ctx) })},
		{Name: Proxy, Run: component(proxy.NewProxyCommand)},
		{Name: Etcd, Run: etcd},
		{Name: Kubectl, Run: runKubectl},
		{Name: CoreDNS, Run: coredns.Run},
		{Name: NodeCache, Run: coredns.RunCache},
		{Name: TunnelServer, Run: component(tunnelServer)},
		{Name: TunnelAgent, Run: component(tunnelAgent)},
		{Name: NetworkAgent, Run: func(args []string) int { return runNetworkAgent(ctx, args) }},
		{Name: NodeAgent, Run: func(args []string) int { return runNodeAgent(ctx, args) }},
		{Name: VolumeAgent, Run: func(args []string) int { return runVolumeAgent(ctx, args) }},
		{Name: MetricsServer, Run: func(args []string) int { return runMetricsServer(ctx, args) }},
	}
}

// component runs a program of the control plane or of a node. It builds the command only when it runs,
// because this changes flags and feature gates that are shared in the process.
func component(build func() *cobra.Command) func([]string) int {
	return func(args []string) int {
		command := build()
		command.SetArgs(args)
		return cli.Run(command)
	}
}

// tunnelServer is the end of konnectivity beside an API server.
func tunnelServer() *cobra.Command {
	options := tunnelserveroptions.NewProxyRunOptions()
	command := tunnelserver.NewProxyCommand(&tunnelserver.Proxy{}, options)
	command.Flags().AddFlagSet(options.Flags())
	return command
}

// tunnelAgent is the end of konnectivity beside nodes and pods.
func tunnelAgent() *cobra.Command {
	options := tunnelagentoptions.NewGrpcProxyAgentOptions()
	command := tunnelagent.NewAgentCommand(&tunnelagent.Agent{}, options)
	command.Flags().AddFlagSet(options.Flags())
	return command
}

// etcd ends the process itself, on success as on failure.
func etcd(args []string) int {
	etcdmain.Main(append([]string{Etcd}, args...))
	return 0
}

func runKubectl(args []string) int {
	// kubectl reads its arguments from os.Args in several places (plugins, .kuberc, the log level).
	os.Args = append([]string{Kubectl}, args...)
	if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	command := kubectl.NewDefaultKubectlCommand()
	if err := cli.RunNoErrOutput(command); err != nil {
		kubectlutil.CheckErr(err) // prints like kubectl, and ends the process
	}
	return 0
}

// runNetworkAgent configures the pod network of local shoots on a node.
func runNetworkAgent(ctx context.Context, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := networkagent.Run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// runVolumeAgent serves the volumes of local shoots on a node.
func runVolumeAgent(ctx context.Context, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := volumeagent.Run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// runNodeAgent keeps a machine of a local shoot as it is configured. There it takes the place of the role of the terrarium binary, which
// would make the image of machines half as large again.
func runNodeAgent(ctx context.Context, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	o := nodeagent.Options{Units: machineunits.Init{}, Clock: clock.RealClock{}}
	flags := pflag.NewFlagSet(NodeAgent, pflag.ContinueOnError)
	o.AddFlags(flags)
	err := flags.Parse(args)
	if err == nil {
		err = errors.Join(o.Validate()...)
	}
	if err == nil {
		err = nodeagent.Run(ctx, o)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// runMetricsServer measures the nodes and pods of a cluster.
func runMetricsServer(ctx context.Context, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return component(func() *cobra.Command { return metricsserver.NewMetricsServerCommand(ctx.Done()) })(args)
}
