// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

// Name of the extension, of its registration, and of the field owner of what it applies.
const Name = "provider-local"

// Images are the container images that the extension deploys.
type Images struct {
	// Terrarium holds the terrarium binary.
	Terrarium string
	// Machine is the image of machines whose cloud profile names none.
	Machine string
	// NetworkAgent holds the network agent.
	NetworkAgent string
	// Pause is the image of pod sandboxes on machines.
	Pause string
	// Archives is a folder on the nodes of the seed with image archives that machines import; empty for none.
	Archives string
}

// Options of the process.
type Options struct {
	// Seed is the connection to the seed.
	Seed *rest.Config
	// Images that are deployed.
	Images Images
	// Namespace of the installation, for its heartbeat; empty for none.
	Namespace string
	// HealthAddress serves /healthz and /readyz; empty for none.
	HealthAddress string
	// Clock of all controllers; the real one when unset.
	Clock clock.WithTicker
	// Log of the process.
	Log logr.Logger
}

// Run acts on the extension objects of the seed until ctx ends. It is the only one of its kind in a process: controller-runtime gets
// the log.
func Run(ctx context.Context, o Options) error {
	ctrl.SetLogger(o.Log)
	mgr, err := NewManager(o)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// NewManager returns a manager with all controllers of the extension, not started yet.
func NewManager(o Options) (manager.Manager, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	types, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("build scheme: %w", err)
	}
	health := o.HealthAddress
	if health == "" {
		health = "0"
	}
	mgr, err := ctrl.NewManager(o.Seed, ctrl.Options{
		Scheme:                 types,
		Logger:                 o.Log,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: health,
		Cache:                  cache.Options{ByObject: machinesOnly()},
		// Secrets and pods in the cache are those of machines; reads of all others have to reach the server.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.Pod{}, &coordinationv1.Lease{}}}},
	})
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	shoots := &kit.Shoots{Seed: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Secret: engine.ShootAccessSecret, UserAgent: Name, Clock: o.Clock}
	if err := mgr.Add(shoots); err != nil {
		return nil, fmt.Errorf("set up the clients of shoots: %w", err)
	}
	for _, part := range adders(o, mgr, shoots) {
		if err := part.AddToManager(mgr); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return nil, fmt.Errorf("add health checks: %w", err)
	}
	return mgr, nil
}

func machinesOnly() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Label: labels.SelectorFromSet(machinedeployment.SecretLabels(""))},
		&corev1.Pod{}:    {Label: labels.SelectorFromSet(labels.Set{machinedeployment.LabelApp: machinedeployment.App})},
	}
}

// parts are what actors are made of.
type parts struct {
	client client.Client
	reader client.Reader
	seed   deploy.Engine
	shoots engine.Shoots
	clock  clock.WithTicker
	images Images
}

// adder is a part of the extension that runs in the manager of the seed.
type adder interface {
	AddToManager(mgr manager.Manager) error
}

func adders(o Options, mgr manager.Manager, shoots *kit.Shoots) []adder {
	p := parts{
		client: mgr.GetClient(),
		reader: mgr.GetAPIReader(),
		seed:   deploy.Engine{Client: mgr.GetClient(), Owner: Name, Clock: o.Clock},
		shoots: engine.Shoots{Owner: Name, Clock: o.Clock, Client: func(ctx context.Context, namespace string) (client.Client, error) {
			access, err := shoots.Get(ctx, namespace)
			if err != nil {
				return nil, err
			}
			return access, nil
		}},
		clock:  o.Clock,
		images: o.Images,
	}
	list := []adder{&machinedeployment.Reconciler{ShootClient: p.shoots.Client, Clock: o.Clock}}
	for _, r := range p.rows() {
		list = append(list, r)
	}
	if o.Namespace != "" {
		list = append(list, &Heartbeat{Namespace: o.Namespace, Clock: o.Clock})
	}
	return list
}
