// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Process is what the process needs beside what the spec of the shoot says.
type Process struct {
	// Options of the autoscaler.
	Options Options
	// Shoot and Seed are the connections to the clusters.
	Shoot, Seed *rest.Config
	// HealthAddress serves /healthz and /readyz, MetricsAddress /metrics; empty for none.
	HealthAddress, MetricsAddress string
	// Log of the process.
	Log logr.Logger
}

// Run scales until ctx ends. What it reads of the shoot comes from a cache, except for ConfigMaps, of which it may
// read two only.
func Run(ctx context.Context, p Process) error {
	ctrl.SetLogger(p.Log)
	shoot, err := engine.NewManager(p.Shoot, ctrl.Options{
		Logger: p.Log, HealthProbeBindAddress: p.HealthAddress, Metrics: metricsserver.Options{BindAddress: p.MetricsAddress},
		Cache:  cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}}}},
	})
	if err != nil {
		return err
	}
	seed, err := cluster.New(p.Seed, func(options *cluster.Options) {
		options.Scheme = shoot.GetScheme()
		options.Logger = p.Log
		// What was just written is read in the next pass.
		options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{
			&gardenmachinev1alpha1.Machine{}, &gardenmachinev1alpha1.MachineDeployment{}, &gardenmachinev1alpha1.MachineClass{},
		}}
	})
	if err != nil {
		return fmt.Errorf("connect to the seed: %w", err)
	}
	metrics, err := RegisterMetrics(ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	a := &Autoscaler{
		Options: p.Options, Shoot: shoot.GetClient(), Seed: seed.GetClient(), Recorder: shoot.GetEventRecorder("cluster-autoscaler"),
		Clock: clock.RealClock{}, Log: p.Log.WithName("autoscaler"), Metrics: metrics,
	}
	if err := shoot.Add(a); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	return shoot.Start(ctx)
}
