// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/health"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineset"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

// Name of the extension, of its registration, and of the field owner of what it applies.
const Name = engine.Name

// Images are the container images that the extension deploys.
type Images = engine.Images

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
	// IgnoreOperationAnnotation lets changes start the work that somebody else has to ask for, see engine.Reconciler (EXT-OP-7).
	IgnoreOperationAnnotation bool
	// Log of the process.
	Log logr.Logger
}

// Run acts on the extension objects of the seed until ctx ends. It must run only once in a process, because controller-runtime
// gets the log.
func Run(ctx context.Context, o Options) error {
	ctrl.SetLogger(o.Log)
	mgr, err := engine.NewManager(o.Seed, ctrl.Options{
		Logger:                 o.Log,
		HealthProbeBindAddress: o.HealthAddress,
		Cache:                  cache.Options{ByObject: machinesOnly()},
		// The cache holds only the pods of machines; all others have to be read from the server, and so have Secrets. ManagedResources and
		// claims are those of everybody, and it may not watch them.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{
			&corev1.Secret{}, &corev1.Pod{}, &coordinationv1.Lease{}, &gardenresourcesv1alpha1.ManagedResource{},
			&corev1.PersistentVolumeClaim{}, &storagev1.StorageClass{},
		}}},
	})
	if err != nil {
		return err
	}
	shoots := &kit.Shoots{Seed: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Secret: shootaccess.SecretName(Name), UserAgent: Name}
	clouds := &cloud.Clouds{Seed: mgr.GetClient(), Reader: mgr.GetAPIReader()}
	if err := errors.Join(mgr.Add(shoots), mgr.Add(clouds)); err != nil {
		return fmt.Errorf("set up the clients of shoots and clouds: %w", err)
	}
	for _, part := range adders(o, mgr, shoots, clouds.Of) {
		if err := part.AddToManager(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

func machinesOnly() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}: {Label: labels.SelectorFromSet(machinepod.Labels())},
	}
}

// adder is a part of the extension that runs in the manager of the seed.
type adder interface {
	AddToManager(seed manager.Manager) error
}

func adders(o Options, mgr manager.Manager, shoots *kit.Shoots, find cloud.Find) []adder {
	clk := clock.RealClock{}
	list := []adder{&worker.Updates{}, &machinedeployment.Reconciler{}, &machineset.Reconciler{}, &machines.Reconciler{Cloud: find, Shoot: shoots.Get}}
	for _, r := range rows(engine.Access{
		Reader: mgr.GetAPIReader(),
		Seed:   deploy.Engine{Client: mgr.GetClient(), Owner: Name, Clock: clk},
		Images: o.Images,
	}, find) {
		if o.IgnoreOperationAnnotation {
			r.ActUnasked()
		}
		list = append(list, r)
	}
	list = append(list, &health.Reconciler[*gardenextensionsv1alpha1.ControlPlane]{
		Name: "controlplane-health", New: func() *gardenextensionsv1alpha1.ControlPlane { return &gardenextensionsv1alpha1.ControlPlane{} },
		Checks: controlplane.Checks(),
	})
	if o.Namespace != "" {
		list = append(list, &Heartbeat{Namespace: o.Namespace, Clock: clk})
	}
	return list
}
