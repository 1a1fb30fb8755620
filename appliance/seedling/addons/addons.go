// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/knftables"

	"github.com/terrarium-garden/terrarium/appliance/seedling/dnszones"
	"github.com/terrarium-garden/terrarium/appliance/seedling/loadbalancer"
	"github.com/terrarium-garden/terrarium/appliance/seedling/networkpolicy"
	"github.com/terrarium-garden/terrarium/appliance/seedling/storageclass"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

// resync is how often everything is checked without an event, because the machine may have been changed by others.
const resync = time.Minute

// Options say for which cluster the loops run.
type Options struct {
	Client           kubernetes.Interface
	LoadBalancerPool netip.Prefix
	VolumesDir       string
	// Machine manages the addresses of load balancers.
	Machine loadbalancer.Machine
	// Firewall opens the firewall table of NetworkPolicies.
	Firewall func() (knftables.Interface, error)
	// Zones are the files of the DNS server.
	Zones dnszones.Files
	// Listen is the address of the health endpoint.
	Listen string
	Log    logr.Logger
}

// loop is one reconciliation and the informers whose events it follows.
type loop struct {
	name      string
	reconcile func(ctx context.Context) error
	watches   []cache.SharedIndexInformer
	health    *health
}

// Run runs the loops until the context ends.
func Run(ctx context.Context, o Options) error {
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: o.Client.CoreV1().Events("")})
	recorder := events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "seedling-addons"})

	factory := informers.NewSharedInformerFactory(o.Client, resync)
	services, claims, volumes := factory.Core().V1().Services(), factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	balancer := &loadbalancer.Reconciler{
		Client: o.Client, Services: services.Lister(), Pool: o.LoadBalancerPool,
		Machine: o.Machine,
		Event: func(service *corev1.Service, kind, reason, message string) {
			recorder.Event(service, kind, reason, message)
		},
	}
	storage := &storageclass.Reconciler{
		Client: o.Client, Claims: claims.Lister(), Volumes: volumes.Lister(), Dir: o.VolumesDir,
		Event: func(claim *corev1.PersistentVolumeClaim, kind, reason, message string) {
			recorder.Event(claim, kind, reason, message)
		},
	}
	policies, pods, namespaces := factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Pods(), factory.Core().V1().Namespaces()
	firewall := &networkpolicy.Reconciler{
		Policies: policies.Lister(), Pods: pods.Lister(), Namespaces: namespaces.Lister(), Open: o.Firewall,
	}
	// Only one ConfigMap of the cluster is of interest.
	single := informers.NewSharedInformerFactoryWithOptions(o.Client, resync, informers.WithNamespace(nameserver.Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, nameserver.Name).String()
		}))
	records := single.Core().V1().ConfigMaps()
	names := &dnszones.Reconciler{ConfigMaps: records.Lister(), Files: o.Zones}
	health := &health{last: map[string]error{}}
	loops := []loop{
		{"load balancer", balancer.Reconcile, []cache.SharedIndexInformer{services.Informer()}, health},
		{"storage", storage.Reconcile, []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()}, health},
		{"dns records", names.Reconcile, []cache.SharedIndexInformer{records.Informer()}, health},
		{"network policies", firewall.Reconcile, []cache.SharedIndexInformer{policies.Informer(), pods.Informer(), namespaces.Informer()}, health},
	}
	if err := storage.EnsureClass(ctx); err != nil {
		return err
	}
	// The informers use the context of the group, so that they stop when a loop fails and Shutdown does not block.
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range []informers.SharedInformerFactory{factory, single} {
		f.StartWithContext(ctx)
		defer f.Shutdown()
	}
	for _, l := range loops {
		group.Go(func() error { return l.run(ctx, o.Log.WithValues("loop", l.name)) })
	}
	group.Go(func() error { return health.serve(ctx, o.Listen) })
	return group.Wait()
}

// run reconciles once for any number of pending events, and retries failures with growing delays.
func (l loop) run(ctx context.Context, log logr.Logger) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { queue.Add(l.name) },
		UpdateFunc: func(any, any) { queue.Add(l.name) },
		DeleteFunc: func(any) { queue.Add(l.name) },
	}
	for _, informer := range l.watches {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return fmt.Errorf("watch for loop %q: %w", l.name, err)
		}
		if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			return nil // stopped before it started
		}
	}
	queue.Add(l.name)
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	log.Info("Loop started")
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return nil
		}
		err := l.reconcile(ctx)
		l.health.note(l.name, err)
		if err != nil {
			log.Error(err, "Reconciliation failed, trying again")
			queue.AddRateLimited(item)
		} else {
			queue.Forget(item)
		}
		queue.Done(item)
	}
}
