// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
)

// answerPatience limits the time for an answer of the cluster's API server.
const answerPatience = 20 * time.Second

var (
	// ErrSeedUnreachable says that the API server of the cluster does not answer, or is not an API server.
	ErrSeedUnreachable = errors.New("the seed cluster cannot be reached")
	// ErrSeedRights says that the user of the kubeconfig is not an administrator.
	ErrSeedRights = errors.New("the user of the kubeconfig is not an administrator of the cluster: joining grants the gardenlet all permissions in it")
)

// cluster is the cluster that joins or leaves.
type cluster struct {
	client  client.Client
	config  *rest.Config
	scheme  *runtime.Scheme
	version string
}

// openCluster connects to the cluster and checks whether it can be a seed. It changes nothing.
func openCluster(ctx context.Context, kubeconfig, contextName, userAgent string) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: contextName, ClusterInfo: clientcmdapi.Cluster{}}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, hinted(fmt.Errorf("load kubeconfig of the cluster: %w", err), "specify a kubeconfig of the cluster with --seed-kubeconfig")
	}
	config.UserAgent = userAgent
	config.QPS, config.Burst = 50, 100
	c := &cluster{config: config}
	if err := c.ask(ctx); err != nil {
		return nil, err
	}
	if c.scheme, err = scheme.New(); err != nil {
		return nil, err
	}
	if c.client, err = client.New(config, client.Options{Scheme: c.scheme}); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSeedUnreachable, config.Host, err)
	}
	return c, c.checkRights(ctx)
}

// ask reads the version, which every authenticated user may read.
func (c *cluster) ask(ctx context.Context) error {
	short := rest.CopyConfig(c.config)
	short.Timeout = answerPatience
	clients, err := discovery.NewDiscoveryClientForConfig(short)
	if err != nil {
		return fmt.Errorf("build client of the cluster: %w", err)
	}
	var info version.Info
	data, err := clients.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		return hinted(fmt.Errorf("%w: %s: %w", ErrSeedUnreachable, c.config.Host, err), "check the kubeconfig: --seed-kubeconfig and --seed-context select another one")
	}
	c.version = info.GitVersion
	return seed.CheckVersion(c.version)
}

func (c *cluster) checkRights(ctx context.Context) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"},
	}}
	if err := c.client.Create(ctx, review); err != nil {
		return fmt.Errorf("check permissions in the cluster at %s: %w", c.config.Host, err)
	}
	if !review.Status.Allowed {
		return fmt.Errorf("%w (%s)", ErrSeedRights, c.config.Host)
	}
	return nil
}
