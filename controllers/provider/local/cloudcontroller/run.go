// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// Options of the process.
type Options struct {
	// Shoot is the connection to the shoot.
	Shoot *rest.Config
	// Cloud is the connection to the cluster of the machines.
	Cloud *rest.Config
	// Place is the UID of that cluster, if it is not the seed.
	Place string
	// Namespace holds the machines in that cluster.
	Namespace string
	// HealthAddress serves /healthz and /readyz; empty for none.
	HealthAddress string
	// Log of the process.
	Log logr.Logger
}

// qps and burst limit the requests to the seed. Changes in the shoot lead to them, and who makes these may be hostile.
const (
	qps   = 10
	burst = 20
)

// Run maintains the Nodes and the load balancers until ctx ends.
func Run(ctx context.Context, o Options) error {
	ctrl.SetLogger(o.Log)
	shoot, err := engine.NewManager(o.Shoot, ctrl.Options{Logger: o.Log, HealthProbeBindAddress: o.HealthAddress})
	if err != nil {
		return err
	}
	machines, err := cluster.New(limited(o.Cloud), func(options *cluster.Options) {
		options.Scheme = shoot.GetScheme()
		options.Logger = o.Log
		// A machine may not be in the cache yet, and a Node whose machine is missing is deleted. A load balancer may not be there yet, and
		// there would be more than allowed. EndpointSlices are not watched.
		options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Pod{}, &corev1.Service{}, &discoveryv1.EndpointSlice{}}}
		options.Cache = cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.Namespace: {}},
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Pod{}:     {Label: labels.SelectorFromSet(machinepod.Labels())},
				&corev1.Service{}: {Label: labels.SelectorFromSet(loadbalancer.Labels())},
			},
		}
	})
	if err != nil {
		return fmt.Errorf("connect to the cluster of the machines: %w", err)
	}
	if err := samePlace(ctx, machines.GetAPIReader(), o.Place); err != nil {
		return err
	}
	nodes := &Reconciler{Namespace: o.Namespace, Cloud: machines.GetClient(), CloudCache: machines.GetCache()}
	balancers := &loadbalancer.Reconciler{Namespace: o.Namespace, Cloud: machines.GetClient(), CloudCache: machines.GetCache()}
	if err := errors.Join(shoot.Add(machines), nodes.AddToManager(shoot), balancers.AddToManager(shoot)); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if err := balancers.ForgetFormer(ctx); err != nil {
		return err
	}
	return shoot.Start(ctx)
}

// limited has a limit for all requests together, unless it has one already: that of another cluster has.
func limited(config *rest.Config) *rest.Config {
	if config.RateLimiter != nil {
		return config
	}
	config = rest.CopyConfig(config)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	return config
}

// samePlace makes sure that it is the cluster in which the machines were made. In another one there are none, so all Nodes would go.
func samePlace(ctx context.Context, machines client.Reader, place string) error {
	if place == "" {
		return nil
	}
	found, err := cloud.PlaceOf(ctx, machines)
	if err != nil {
		return fmt.Errorf("find out which cluster it is: %w", err)
	}
	if found != place {
		return fmt.Errorf("the kubeconfig leads to the cluster %q, but the machines are in %q: restore the former provider secret", found, place)
	}
	return nil
}
