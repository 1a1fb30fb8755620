// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/journal"
	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/bastion"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	installationcare "github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation/care"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation/required"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/evictions"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/gardentoken"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/networkpolicy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seedcare"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/selfupgrade"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootadmin"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstate"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstatus"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// controllers lists what a gardenlet does. A new controller is a new line; each takes its own section of the configuration.
func (p *process) controllers(in garden, denied reach.Namespaces, flows *flowmetrics.Recorder, tasks operation.Journal) []kit.Adder {
	c := p.Config.Controllers
	return []kit.Adder{
		&lease.Reconciler{Config: c.Seed, Health: p.health, Notes: in.access.Marks},
		&seed.Reconciler{
			Config: c.Seed, Gardenlet: p.identity, Resources: p.Config.Resources,
			Expiry: in.access.Expiry, RenewKubeconfig: p.renewKubeconfig, Flows: flows, Journal: tasks, Image: p.Image,
			NodeToleration: p.Config.NodeToleration, PolicyNamespaces: denied, IdentityTokenValidity: c.TokenRequestorWorkloadIdentity.TokenExpirationDuration.Duration,
		},
		&networkpolicy.Reconciler{Config: c.NetworkPolicy, Namespaces: denied},
		&seedcare.Reconciler{Config: c.SeedCare, StaleExtensionHealthChecks: c.ShootCare.StaleExtensionHealthChecks},
		&controllerinstallation.Reconciler{
			Config: c.ControllerInstallation, Version: p.APILevel, FeatureGates: p.Config.FeatureGates, Garden: in.access.Anonymous,
		},
		&gardentoken.Reconciler{Config: c.TokenRequestorServiceAccount, Garden: in.access.Anonymous},
		&installationcare.Reconciler{Config: c.ControllerInstallationCare},
		&required.Reconciler{Config: c.ControllerInstallationRequired},
		&shoot.Reconciler{
			Config: c.Shoot, Identity: p.identity, Images: p.images, Flows: flows, Journal: tasks,
			IdentityTokenValidity: c.TokenRequestorWorkloadIdentity.TokenExpirationDuration.Duration, ExposureHandlers: p.Config.ExposureClassHandlers,
		},
		&bastion.Reconciler{Config: c.Bastion},
		&workloadidentity.Reconciler{Config: c.TokenRequestorWorkloadIdentity},
		&care.Reconciler{Config: c.ShootCare},
		&evictions.Reconciler{Config: c.VPAEvictionRequirements},
		&shootstate.Reconciler{Config: c.ShootState},
		&shootstatus.Reconciler{Config: c.ShootStatus},
		&selfupgrade.Reconciler{
			Config: c.Gardenlet, Connection: p.Config.GardenClientConnection, RenewKubeconfig: p.renewKubeconfig, Program: p.identity.Version,
		},
	}
}

// control runs the controllers.
func (p *process) control(ctx context.Context, in garden, ready func()) error {
	mgr, err := p.newManager(in.access.Config())
	if err != nil {
		return err
	}
	target, err := cluster.New(p.seed, func(o *cluster.Options) {
		o.Scheme = p.scheme
		o.Logger = p.Log.WithName("controllers")
		o.NewClient = uncached
		o.Cache.DefaultTransform = cache.TransformStripManagedFields()
		o.Cache.ByObject = p.watched()
	})
	if err != nil {
		return fmt.Errorf("set up the seed for controllers: %w", err)
	}
	if err := mgr.Add(target); err != nil {
		return fmt.Errorf("set up the seed for controllers: %w", err)
	}
	admin := &shootadmin.Issuer{Seed: target.GetAPIReader(), Clock: p.Clock}
	shoots := &kit.Shoots{
		Seed: target.GetAPIReader(), Scheme: p.scheme, Kubeconfig: admin.Kubeconfig, Clock: p.Clock,
		Connection: p.Config.ShootClientConnection.ClientConnectionConfiguration,
	}
	if err := mgr.Add(shoots); err != nil {
		return fmt.Errorf("set up the clients of shoots: %w", err)
	}
	clusters := kit.Clusters{Garden: mgr, Seed: target, Shoots: shoots, SeedName: p.seedName(), Clock: p.Clock}
	flows, err := flowmetrics.Register(metrics.Registry)
	if err != nil {
		return err
	}
	tasks := journal.New(p.Clock, p.Log.WithName("journal"))
	denied, err := p.denied(ctx, target.GetAPIReader())
	if err != nil {
		return err
	}
	if err := kit.AddAll(clusters, p.controllers(in, denied, flows, tasks)...); err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		tasks.Run(ctx, in.client)
		return nil
	}))
	if err != nil {
		return fmt.Errorf("set up the journal: %w", err)
	}
	p.recorder.Store(new(mgr.GetEventRecorder("gardenlet")))
	p.syncSince.Store(new(p.Clock.Now()))
	p.alive()

	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	if mgr.GetCache().WaitForCacheSync(ctx) && target.GetCache().WaitForCacheSync(ctx) {
		close(p.synced)
		ready()
		p.Log.Info("Gardenlet runs", "seed", p.seedName())
		if p.Ready != nil {
			p.Ready()
		}
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	if ctx.Err() == nil {
		return errors.New("the controllers stopped unexpectedly")
	}
	return nil
}

// watched says which Secrets and endpoints of the seed are in the cache: those that a controller watches.
func (p *process) watched() map[client.Object]cache.ByObject {
	of := map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: workloadidentity.Wanted()}}
	if p.keepsPolicies() {
		of[&discoveryv1.EndpointSlice{}] = cache.ByObject{Label: networkpolicy.Servers()}
	}
	return of
}

// keepsPolicies reports whether the gardenlet denies traffic in the seed. Without a resource manager it does not: nobody would open the
// ways between components.
func (p *process) keepsPolicies() bool { return p.Image != "" }

// denied are the namespaces of the seed in which all traffic is denied that no policy allows.
func (p *process) denied(ctx context.Context, seed client.Reader) (reach.Namespaces, error) {
	if !p.keepsPolicies() {
		return nil, nil
	}
	return networkpolicy.Namespaces(ctx, seed, p.Config.Controllers.NetworkPolicy)
}

// newManager returns a manager for the garden. Its cache holds only objects of this seed (GLET-REG-7).
func (p *process) newManager(reach *rest.Config) (manager.Manager, error) {
	if err := kit.PreferProtobuf(); err != nil {
		return nil, err
	}
	own := labels.SelectorFromSet(labels.Set{gardencorev1beta1.LabelPrefixSeedName + p.seedName(): "true"})
	address := addressOf(p.Config.Server.Metrics)
	if address == "" {
		address = "0"
	}
	mgr, err := manager.New(reach, manager.Options{
		Scheme:                 p.scheme,
		Logger:                 p.Log.WithName("controllers"),
		Metrics:                metricsserver.Options{BindAddress: address},
		HealthProbeBindAddress: "0",
		NewClient:              selective,
		Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: map[client.Object]cache.ByObject{
			&gardencorev1beta1.Seed{}:  {Label: own},
			&gardencorev1beta1.Shoot{}: {Label: own},
			&gardencorev1beta1.ControllerInstallation{}: {
				Field: fields.OneTermEqualSelector("spec.seedRef.name", p.seedName()),
			},
			&gardenoperationsv1alpha1.Bastion{}: {
				Field: fields.OneTermEqualSelector(gardenoperationsv1alpha1.FieldBastionSeedName, p.seedName()),
			},
		}},
		Controller: config.Controller{
			CacheSyncTimeout:   p.Config.Controllers.CacheSyncTimeout.Duration,
			SkipNameValidation: new(true),
		},
		GracefulShutdownTimeout: new(grace / 2),
	})
	if err != nil {
		return nil, portError(fmt.Errorf("set up controllers: %w", err), "server.metrics.port")
	}
	return mgr, nil
}

// uncached returns a client that reads without a cache, so that controllers see what they have just written.
func uncached(restConfig *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(restConfig, options)
}

// selective returns a client that reads from the cache only the kinds for which the cache is restricted to this seed. Other
// objects are read from the garden one by one; to cache them, all objects of the garden would have to be listed.
func selective(restConfig *rest.Config, options client.Options) (client.Client, error) {
	direct, err := uncached(restConfig, options)
	if err != nil {
		return nil, err
	}
	options.Cache = &client.CacheOptions{Reader: reader{cached: options.Cache.Reader, direct: direct}}
	return client.New(restConfig, options)
}

// reader reads from the cache or from the garden, depending on the kind.
type reader struct{ cached, direct client.Reader }

// Get implements client.Reader.
func (r reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	switch object.(type) {
	case *gardencorev1beta1.Seed, *gardencorev1beta1.Shoot, *gardencorev1beta1.ControllerInstallation, *gardenoperationsv1alpha1.Bastion:
		return r.cached.Get(ctx, key, object, opts...)
	default:
		return r.direct.Get(ctx, key, object, opts...)
	}
}

// List implements client.Reader.
func (r reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	switch list.(type) {
	case *gardencorev1beta1.SeedList, *gardencorev1beta1.ShootList, *gardencorev1beta1.ControllerInstallationList, *gardenoperationsv1alpha1.BastionList:
		return r.cached.List(ctx, list, opts...)
	default:
		return r.direct.List(ctx, list, opts...)
	}
}

// renewKubeconfig requests a renewal of the credentials from the unit that maintains them.
func (p *process) renewKubeconfig(ctx context.Context) error {
	reference := p.Config.GardenClientConnection.KubeconfigSecret
	if reference == nil {
		return errors.New("the credentials for the garden come from a file and cannot be renewed")
	}
	seedClient, err := p.newSeedClient()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: reference.Namespace, Name: reference.Name}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRenew)
	if err := seedClient.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("request new credentials in Secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}
