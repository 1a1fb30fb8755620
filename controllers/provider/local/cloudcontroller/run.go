// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// Options of the process.
type Options struct {
	// Shoot is the connection to the shoot.
	Shoot *rest.Config
	// Seed is the connection to the seed.
	Seed *rest.Config
	// Namespace holds the machines in the seed.
	Namespace string
	// HealthAddress serves /healthz and /readyz; empty for none.
	HealthAddress string
	// Log of the process.
	Log logr.Logger
}

// Run maintains the Nodes until ctx ends.
func Run(ctx context.Context, o Options) error {
	ctrl.SetLogger(o.Log)
	shoot, err := engine.NewManager(o.Shoot, ctrl.Options{Logger: o.Log, HealthProbeBindAddress: o.HealthAddress})
	if err != nil {
		return err
	}
	seed, err := cluster.New(o.Seed, func(options *cluster.Options) {
		options.Scheme = shoot.GetScheme()
		options.Logger = o.Log
		// A machine may not be in the cache yet, and a Node whose machine is missing is deleted.
		options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Pod{}}}
		options.Cache = cache.Options{
			DefaultNamespaces:    map[string]cache.Config{o.Namespace: {}},
			DefaultLabelSelector: labels.SelectorFromSet(labels.Set{machinepod.LabelApp: machinepod.App}),
		}
	})
	if err != nil {
		return fmt.Errorf("connect to the seed: %w", err)
	}
	reconciler := &Reconciler{Namespace: o.Namespace, SeedClient: seed.GetClient(), SeedCache: seed.GetCache()}
	if err := errors.Join(shoot.Add(seed), reconciler.AddToManager(shoot)); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	return shoot.Start(ctx)
}
