// SPDX-License-Identifier: Apache-2.0

// Package resourcemanager is the process that keeps sets of objects as they should be, for a seed and for all of its shoots. It serves
// the ManagedResources of the seed: those of the class seed have their objects in the seed itself, those without a class in the shoot
// whose control plane has the namespace. The same process keeps tokens for those who act in a shoot, and collects garbage.
//
// There is one active process for a seed; others wait for its lease. Shoots share one client each, see kit.Shoots, and a shoot that is
// hibernated costs nothing.
//
// Every process, active or not, answers webhooks of the seed, see package webhooks.
//
// It makes network policies for the Services of the seed, see package networkpolicy, if its configuration says where traffic is denied.
//
// In each shoot that is awake it decides on the requests of kubelets for serving certificates, see package certificates, and opens
// new nodes for pods, see package nodes.
//
// It defragments the etcds of shoots, see package defragment.
//
// The API servers of shoots ask the webhooks too.
package resourcemanager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/certificates"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/defragment"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/garbage"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/health"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/inshoot"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/networkpolicy"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/nodes"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/tokens"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

const (
	// Name of the process, of its Deployment and of its lease.
	Name = shootaccess.ResourceManager
	// DefaultSyncPeriod is the time after which objects are applied and judged again.
	DefaultSyncPeriod = time.Minute
	// seedQPS and seedBurst limit the requests to the seed (GRM-CFG-3).
	seedQPS, seedBurst = 100, 130
	// ClusterIDOfCluster stands for the identity of the seed, which has to exist (GRM-CFG-5).
	ClusterIDOfCluster = "<cluster>"
	// ClusterIDOrNone stands for the identity of the seed, or for nothing if it does not exist.
	ClusterIDOrNone = "<default>"
)

// Options of the process.
type Options struct {
	// Seed is the connection to the seed.
	Seed *rest.Config
	// Namespace is where the lease of the active process is; empty for a process that is alone.
	Namespace string
	// ClusterID stands before the origin of objects; empty for none.
	ClusterID string
	// SyncPeriod is the time after which objects are applied and judged again; 0 takes the default.
	SyncPeriod time.Duration
	// GarbagePeriod is the time between two collections of garbage; 0 collects none.
	GarbagePeriod time.Duration
	// WebhookAddress serves the webhooks of the seed, and ShootWebhookAddress those of shoots; empty for none.
	WebhookAddress, ShootWebhookAddress string
	// WebhookCertificates is the folder with tls.crt and tls.key of the webhooks.
	WebhookCertificates string
	// TokenExpiration is how long tokens are valid that webhooks give to pods; 0 takes the default.
	TokenExpiration time.Duration
	// PodScheduler is the scheduler that a webhook gives to pods of control planes; empty for none.
	PodScheduler string
	// NodeTolerations are how long pods of the seed stay on nodes that are lost.
	NodeTolerations webhooks.NodeTolerations
	// PolicyNamespaces are those of the seed in which traffic is denied; empty for a process that makes no network policies.
	PolicyNamespaces reach.Namespaces
	// Ingress are the pods that may reach what Ingresses and VirtualServices lead to; the zero value stands for none.
	Ingress networkpolicy.Controller
	// HealthAddress serves /healthz and /readyz, MetricsAddress /metrics; empty for none.
	HealthAddress, MetricsAddress string
	// Clock tells the time.
	Clock clock.Clock
	// Log of the process.
	Log logr.Logger
}

// Run serves the seed until ctx ends.
func Run(ctx context.Context, o Options) error {
	o = o.completed()
	mgr, err := newManager(o)
	if err != nil {
		return err
	}
	// Nothing is read from the cache but ManagedResources and what network policies are made of: it holds only the metadata of Secrets.
	direct, err := newDirect(mgr)
	if err != nil {
		return err
	}
	if o.ClusterID, err = clusterID(ctx, direct, o.ClusterID); err != nil {
		return err
	}
	shoots := newShoots(mgr, direct, o)
	if err := mgr.Add(shoots); err != nil {
		return fmt.Errorf("set up the clients of shoots: %w", err)
	}
	targets := target.Finder{Seed: direct, Shoot: shoots.Get}
	if o.WebhookAddress != "" {
		decider := &webhooks.Decider{Seed: direct, TokenExpiration: o.TokenExpiration, Scheduler: o.PodScheduler, Tolerations: o.NodeTolerations}
		decider.Register(mgr.GetWebhookServer(), o.Log)
		if err := addReadyCheck(mgr, "webhooks", mgr.GetWebhookServer()); err != nil {
			return err
		}
	}
	if o.ShootWebhookAddress != "" {
		if err := serveShoots(mgr, o); err != nil { //nolint:contextcheck // A handshake of TLS has a context of its own.
			return err
		}
	}
	for _, part := range parts(o, targets) {
		if err := part.AddToManager(mgr); err != nil {
			return err
		}
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the resource manager: %w", err)
	}
	return nil
}

// completed sets the defaults (GRM-CFG-3).
func (o Options) completed() Options {
	o.Clock = cmp.Or[clock.Clock](o.Clock, clock.RealClock{})
	o.SyncPeriod = cmp.Or(o.SyncPeriod, DefaultSyncPeriod)
	o.TokenExpiration = cmp.Or(o.TokenExpiration, webhooks.DefaultTokenExpiration)
	o.Seed = rest.CopyConfig(o.Seed)
	o.Seed.UserAgent = Name
	if o.Seed.QPS == 0 {
		o.Seed.QPS, o.Seed.Burst = seedQPS, seedBurst
	}
	return o
}

// part is a controller of the process.
type part interface {
	AddToManager(seed manager.Manager) error
}

func parts(o Options, targets target.Finder) []part {
	list := []part{
		&managedresource.Reconciler{
			Base: kit.Base{Clock: o.Clock}, Targets: targets, ClusterID: o.ClusterID, SyncPeriod: o.SyncPeriod, KeepGarbage: o.GarbagePeriod > 0,
		},
		&health.Reconciler{Base: kit.Base{Clock: o.Clock}, Targets: targets, ClusterID: o.ClusterID, SyncPeriod: o.SyncPeriod},
		&tokens.Reconciler{Base: kit.Base{Clock: o.Clock}, Targets: targets},
		&defragment.Reconciler{Base: kit.Base{Clock: o.Clock}, Seed: targets.Seed},
		&inshoot.Reconciler{Base: kit.Base{Clock: o.Clock}, Targets: targets, Kinds: append(nodes.Followed(), certificates.Followed(targets.Seed), certificates.FollowedAgents(targets.Seed))},
	}
	if len(o.PolicyNamespaces) > 0 {
		list = append(list, &networkpolicy.Reconciler{Base: kit.Base{Clock: o.Clock}, Seed: targets.Seed, Namespaces: o.PolicyNamespaces, Ingress: o.Ingress})
	}
	if o.GarbagePeriod > 0 {
		list = append(list, runnable{&garbage.Collector{Targets: targets, Period: o.GarbagePeriod, Clock: o.Clock}})
	}
	return list
}

type runnable struct{ manager.Runnable }

// AddToManager implements part.
func (r runnable) AddToManager(seed manager.Manager) error { return seed.Add(r.Runnable) }

func newManager(o Options) (manager.Manager, error) {
	types, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("build scheme: %w", err)
	}
	var server webhook.Server
	if o.WebhookAddress != "" {
		if server, err = webhooks.NewServer(o.WebhookAddress, o.WebhookCertificates); err != nil {
			return nil, err
		}
	}
	mgr, err := manager.New(o.Seed, manager.Options{
		Scheme: types, Logger: o.Log, WebhookServer: server,
		LeaderElection: o.Namespace != "", LeaderElectionID: Name, LeaderElectionNamespace: o.Namespace, LeaderElectionReleaseOnCancel: true,
		Metrics:                metricsserver.Options{BindAddress: cmp.Or(o.MetricsAddress, "0")},
		HealthProbeBindAddress: cmp.Or(o.HealthAddress, "0"),
		Cache:                  cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: watched(o)},
		Controller:             config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("set up the resource manager: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return nil, fmt.Errorf("add health checks: %w", err)
	}
	return mgr, nil
}

// watched says which objects of a kind are in the cache, if not all are.
func watched(o Options) map[client.Object]cache.ByObject {
	if len(o.PolicyNamespaces) == 0 {
		return nil
	}
	return map[client.Object]cache.ByObject{&networkingv1.NetworkPolicy{}: {Label: networkpolicy.Made()}}
}

// addReadyCheck makes a process, active or not, ready only when it answers webhooks.
func addReadyCheck(mgr manager.Manager, name string, server webhook.Server) error {
	if err := mgr.AddReadyzCheck(name, server.StartedChecker()); err != nil {
		return fmt.Errorf("add health checks: %w", err)
	}
	return nil
}

// serveShoots answers the webhooks of shoots in every process. Owners decide how often their API servers ask. So what that takes has
// clients of its own, whose rate limits nobody else needs.
func serveShoots(mgr manager.Manager, o Options) error {
	seed, err := newDirect(mgr)
	if err != nil {
		return err
	}
	shoots := newShoots(mgr, seed, o)
	if err := mgr.Add(shoots); err != nil {
		return fmt.Errorf("set up the clients of shoots for webhooks: %w", err)
	}
	targets := target.Finder{Seed: seed, Shoot: shoots.Get}
	decider := &webhooks.Decider{TokenExpiration: o.TokenExpiration, Shoot: func(ctx context.Context, namespace string) (client.Reader, error) {
		return targets.ShootOf(ctx, namespace)
	}}
	known := &webhooks.ShootCertificates{Seed: seed, Clock: o.Clock}
	server, err := webhooks.NewShootServer(o.ShootWebhookAddress, o.WebhookCertificates, known.Of)
	if err != nil {
		return err
	}
	decider.RegisterShoots(server, webhooks.NewDoor(known.Keys, o.Clock), o.Log)
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("add the server for webhooks of shoots: %w", err)
	}
	return addReadyCheck(mgr, "shoot-webhooks", server)
}

// newShoots returns clients of shoots. The gardenlet writes the first token into their Secret, and one in the place of one that no longer
// works. All others the process requests for itself.
func newShoots(mgr manager.Manager, seed client.Client, o Options) *kit.Shoots {
	return &kit.Shoots{Seed: seed, Scheme: mgr.GetScheme(), Secret: shootaccess.SecretName(Name), UserAgent: Name, Clock: o.Clock}
}

// newDirect returns a client of the seed that reads without a cache.
func newDirect(mgr manager.Manager) (client.Client, error) {
	direct, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return nil, fmt.Errorf("build client of the seed: %w", err)
	}
	return direct, nil
}

// clusterID resolves the words that stand for the identity of the seed.
func clusterID(ctx context.Context, seed client.Reader, given string) (string, error) {
	if given != ClusterIDOfCluster && given != ClusterIDOrNone {
		return given, nil
	}
	identity := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	err := seed.Get(ctx, key, identity)
	if apierrors.IsNotFound(err) && given == ClusterIDOrNone {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("get the identity of the seed from ConfigMap %q: %w", key, err)
	}
	found := identity.Data[gardencorev1beta1.ConfigMapClusterIdentity]
	if found == "" && given == ClusterIDOfCluster {
		return "", fmt.Errorf("ConfigMap %q has no key %q", key, gardencorev1beta1.ConfigMapClusterIdentity)
	}
	return found, nil
}
