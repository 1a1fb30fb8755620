// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/runner"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// grace limits the time for stopping a gardenlet.
const grace = 20 * time.Second

// Options are the options of a gardenlet.
type Options struct {
	// Config is the configuration with its defaults. A port below 1 disables the endpoint.
	Config *gardenconfigv1alpha1.GardenletConfiguration
	// Log is the log of the process.
	Log logr.Logger
	// Version is the version of this binary.
	Version string
	// APILevel is the version of the Gardener API that this binary speaks.
	APILevel string
	// Name distinguishes this process from others of the same seed; if empty, it is the host name.
	Name string
	// Exclusive says that no other process can have the same name at the same time, as is the case for the name of a pod. A
	// leader that restarts under its name then does not wait for its own lease to expire.
	Exclusive bool
	// ImageVectorOverwrite is the path of a file that replaces images of the built-in image vector; it may be empty.
	ImageVectorOverwrite string
	// Image is a container image with this binary, from which the resource manager of the seed runs, and the autoscalers of shoots with local
	// machines. Without one, the gardenlet
	// deploys no resource manager.
	Image string
	// Clock gives the time; the system's if nil.
	Clock clock.Clock
	// Ready is called when everything runs; it may be nil.
	Ready func()
}

// Completed are complete options.
type Completed struct{ *completed }

type completed struct {
	Options

	scheme   *runtime.Scheme
	seed     *rest.Config
	images   *images.Vector
	identity gardencorev1beta1.Gardener
}

// Complete sets the defaults and reads the kubeconfig of the seed.
func (o Options) Complete() (Completed, error) {
	if err := o.Validate(); err != nil {
		return Completed{}, fmt.Errorf("gardenlet configuration: %w", err)
	}
	c := &completed{Options: o}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return Completed{}, fmt.Errorf("read the name of the host: %w", err)
		}
		c.Name = name
	}
	var err error
	if c.scheme, err = scheme.New(); err != nil {
		return Completed{}, err
	}
	if c.images, err = images.Load(o.ImageVectorOverwrite); err != nil {
		return Completed{}, err
	}
	c.images = c.images.WithOwn(o.Image)
	if c.seed, err = seedConfig(c.Config.SeedClientConnection); err != nil {
		return Completed{}, err
	}
	c.seed.UserAgent = "terrarium-gardenlet/" + o.Version
	c.identity = gardencorev1beta1.Gardener{ID: string(uuid.NewUUID()), Name: c.Name, Version: o.Version}
	return Completed{completed: c}, nil
}

// Units returns the units of the gardenlet in the order of their start.
func (c Completed) Units() []runner.Unit {
	seconds := *c.Config.Controllers.Seed.LeaseResyncSeconds
	misses := *c.Config.Controllers.Seed.LeaseResyncMissThreshold
	p := &process{
		completed: c.completed,
		health:    lease.NewHealth(c.Clock, time.Duration(seconds)*time.Second*time.Duration(misses)),
		random:    rand.Float64,
		synced:    make(chan struct{}),
	}
	var order runner.Order
	order.Add("health", p.serveHealth)
	order.Add("preflight", p.preflight)
	order.Add("leader election", p.elect)
	in := runner.Give(&order, "garden access", p.enterGarden)
	order.Add("registration", func(ctx context.Context, ready func()) error { return p.register(ctx, in.Get(), ready) })
	order.Add("custom resource definitions", p.define)
	order.Add("controllers", func(ctx context.Context, ready func()) error { return p.control(ctx, in.Get(), ready) })
	return order.Units()
}

// Run runs the gardenlet until ctx ends.
func (c Completed) Run(ctx context.Context) error {
	return runner.Run(logr.NewContext(ctx, c.Log), runner.Options{Grace: grace, Clock: c.Clock, Log: c.Log}, c.Units()...)
}

// RouteLogs sets the global logger of the controller library. The command that creates the logger calls it once per process.
func RouteLogs(log logr.Logger) { ctrl.SetLogger(log.WithName("controllers")) }

// seedConfig returns the client configuration of the seed, from a kubeconfig or from the environment of a pod.
func seedConfig(connection *gardenconfigv1alpha1.SeedClientConnection) (*rest.Config, error) {
	config, err := loadSeedConfig(connection.Kubeconfig)
	if err != nil {
		return nil, err
	}
	kit.Tune(config, connection.ClientConnectionConfiguration)
	return config, nil
}

func loadSeedConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("reach the seed: this process does not run in a pod, so seedClientConnection.kubeconfig is required: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load seed kubeconfig %q: %w", kubeconfig, err)
	}
	return config, nil
}
