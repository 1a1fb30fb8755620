// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

const (
	userAgent     = "gardener-node-agent"
	healthTimeout = 5 * time.Second
)

// Options of the agent.
type Options struct {
	// Kubeconfig is that of the kubelet.
	Kubeconfig string
	// Secret is the name of the Secret with the configuration, Pool that of the worker pool.
	Secret, Pool string
	// StateDir is where the agent keeps what it must remember, and its certificate.
	StateDir string
	// KubeletHealth is the URL that tells how the kubelet is.
	KubeletHealth string
	// Units runs the units of the machine.
	Units Units
	// Clock tells the time.
	Clock clock.WithTicker
}

// AddFlags binds the options to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "/var/lib/kubelet/kubeconfig-real", "kubeconfig of the kubelet of this machine")
	flags.StringVar(&o.Secret, "secret", "", "name of the Secret in kube-system with the configuration of the machine")
	flags.StringVar(&o.Pool, "pool", "", "name of the worker pool of the machine")
	flags.StringVar(&o.StateDir, "state-dir", stateDir, "folder for the certificate of the agent, and for what it remembers")
	flags.StringVar(&o.KubeletHealth, "kubelet-health", "http://127.0.0.1:10248/healthz", "URL that tells how the kubelet is")
}

// Validate returns what is wrong with the options.
func (o *Options) Validate() []error {
	var errs []error
	if o.Secret == "" {
		errs = append(errs, errors.New("--secret: required: the name of the Secret with the configuration of this machine"))
	}
	if o.Pool == "" {
		errs = append(errs, errors.New("--pool: required: the name of the worker pool of this machine"))
	}
	if o.Kubeconfig == "" || o.StateDir == "" {
		errs = append(errs, errors.New("--kubeconfig, --state-dir: must not be empty"))
	}
	return errs
}

// Run keeps the machine until ctx ends. It waits for the kubelet to join, because it has no credential before.
func Run(ctx context.Context, o Options) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find the name of this machine: %w", err)
	}
	a := &Agent{
		Secret: o.Secret, Kubeconfig: o.Kubeconfig, Clock: o.Clock, Healthy: kubeletAt(o.KubeletHealth),
		OSUpdateTimeout: osUpdateTimeout,
		Machine: &Machine{
			Root: "/", HostName: host, StateDir: o.StateDir, Units: o.Units, Images: &imagefile.Patience{Inner: images(o.Kubeconfig), Clock: o.Clock},
		},
	}
	kubelet, err := a.join(ctx, o.Kubeconfig)
	if err != nil {
		return ended(ctx, err)
	}
	if a.Kubelet, err = kubernetes.NewForConfig(kubelet); err != nil {
		return fmt.Errorf("make client as the kubelet: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	own, err := newCredential(ctx, a.Kubelet, o, a.Node)
	if err != nil {
		return err
	}
	own.manager.Start()
	defer own.manager.Stop()
	group.Go(func() error {
		if err := own.await(ctx, func(ctx context.Context) error { return a.pause(ctx, poll) }); err != nil {
			return ended(ctx, err)
		}
		client, err := kubernetes.NewForConfig(own.config(kubelet))
		if err != nil {
			return fmt.Errorf("make client: %w", err)
		}
		a.Own = client
		logr.FromContextOrDiscard(ctx).Info("Node agent runs", "node", a.Node, "user", gardencorev1beta1.UserPrefixNodeAgentMachine+a.Node)
		return a.Run(ctx)
	})
	return group.Wait() //nolint:wrapcheck // They are the agent's own.
}

// ended is no error if it is only the end of ctx.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The end was asked for.
	}
	return err
}

// join waits until the kubelet has a certificate, and takes the name of the node from it.
func (a *Agent) join(ctx context.Context, kubeconfig string) (*rest.Config, error) {
	log, said := logr.FromContextOrDiscard(ctx), ""
	for {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err == nil {
			if a.Node, err = nodeOf(config.CertFile); err == nil {
				config.UserAgent, config.QPS, config.Burst = userAgent, 5, 10
				return config, nil
			}
		}
		if err.Error() != said {
			said = err.Error()
			log.Info("Waiting until the kubelet has joined", "reason", said)
		}
		if err := a.pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// kubeletAt asks a kubelet how it is.
func kubeletAt(url string) func(context.Context) error {
	asker := &http.Client{Timeout: healthTimeout}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("ask the kubelet: %w", err)
		}
		response, err := asker.Do(request)
		if err != nil {
			return fmt.Errorf("ask the kubelet: %w", err)
		}
		if err := response.Body.Close(); err != nil {
			return fmt.Errorf("ask the kubelet: %w", err)
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("ask the kubelet: it answers with %s", response.Status)
		}
		return nil
	}
}
