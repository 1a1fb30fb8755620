// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/guard"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
)

const (
	controllerName = "plant"
	// secretField indexes Plants by the names of their Secrets.
	secretField = "plant.secret"
)

// Reconciler looks at the clusters of plants.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerPlantControllerConfiguration
	// Guard says which addresses are not dialed, beside the networks of the configuration and of seeds.
	Guard guard.Guard
	// Limits bound each look; DefaultLimits if unset.
	Limits Limits

	shares   shares
	decoding sync.Mutex
}

// AddToManager implements kit.Adder. A Plant is looked at when it changes, when its Secret does, whose metadata are watched, and
// again after the sync period (GCM-PLANT-4).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Limits == (Limits{}) {
		r.Limits = DefaultLimits()
	}
	for _, network := range r.Config.BlockedNetworks {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return fmt.Errorf("read blocked network %q: %w", network, err)
		}
		r.Guard.Networks = append(r.Guard.Networks, prefix)
	}
	err := kit.Index(clusters.Garden, &gardencorev1beta1.Plant{}, secretField, func(p *gardencorev1beta1.Plant) []string {
		return []string{p.Spec.SecretRef.Name}
	})
	if err != nil {
		return err
	}
	b := r.Controller(clusters, controllerName, r.queue()).
		Watches(&gardencorev1beta1.Plant{}, r.shares.plants(), builder.WithPredicates(kit.Changed(facts))).
		Watches(&gardencorev1beta1.Project{}, r.shares.projects()).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.ofSecret))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// queue gives half of the workers to the plants of one user at most: clusters that never answer keep workers busy, and must not keep those of
// others waiting for long. The other plants of the user wait for their turn, and take no worker meanwhile.
func (r *Reconciler) queue() kit.Queue {
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.PerNamespace, queue.Owner = max(1, queue.Concurrency/2), &r.shares
	return queue
}

func facts(p *gardencorev1beta1.Plant) any {
	return []any{p.Generation, p.DeletionTimestamp == nil, p.Finalizers}
}

// ofSecret returns the Plants that use a Secret. A list that fails here fails the cache and so the manager, too.
func (r *Reconciler) ofSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	plants := &gardencorev1beta1.PlantList{}
	err := r.Client.List(ctx, plants, client.UnsafeDisableDeepCopy, client.InNamespace(secret.GetNamespace()), client.MatchingFields{secretField: secret.GetName()})
	if err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(plants.Items))
	for i := range plants.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&plants.Items[i])})
	}
	return requests
}

// Reconcile looks at the cluster of one Plant, and reports what it found. A Plant in deletion releases its Secret before itself,
// so that a crash in between leaves nothing behind (GCM-PLANT-1, GCM-PLANT-4).
func (r *Reconciler) Reconcile(ctx context.Context, p *gardencorev1beta1.Plant) (reconcile.Result, error) {
	if p.DeletionTimestamp != nil {
		if err := r.release(ctx, p); err != nil {
			return kit.Result(kit.Stop(), err)
		}
		return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.Client, p, gardencorev1beta1.FinalizerPlant))
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, p, gardencorev1beta1.FinalizerPlant); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	secret, err := r.hold(ctx, p)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	if err := r.release(ctx, p); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	found, err := r.find(ctx, p, secret)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.Client, p)
	p.Status.ObservedGeneration = &p.Generation
	Report(&p.Status, found, r.Clock.Now())
	return commit.Status(ctx, kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil)
}

// find looks at the cluster of the kubeconfig in the secret, which is nil if it does not exist.
func (r *Reconciler) find(ctx context.Context, p *gardencorev1beta1.Plant, secret *corev1.Secret) (Finding, error) {
	if secret == nil {
		return Finding{Unusable: fmt.Sprintf("there is no Secret %q in the namespace", p.Spec.SecretRef.Name)}, nil
	}
	networks, err := r.seedNetworks(ctx)
	if err != nil {
		return Finding{}, err
	}
	keep := r.Guard
	keep.Networks = append(networks, keep.Networks...)
	found := looker{guard: keep, limits: r.Limits, decoding: &r.decoding}.look(ctx, secret.Data[kubeconfig.Key])
	// A look that ended with the process found nothing.
	return found, ctx.Err()
}

// Plausible reports whether a prefix can be the network of a seed. Private networks can have any size. A wider public one is ignored:
// a gardenlet can choose the networks of its seed, and a network like 128.0.0.0/1 would keep the Plants of all projects from their clusters.
// The limits are the largest networks that one organisation has: with narrower ones, a Plant could reach the seeds of an organisation
// that uses such a network inside.
func Plausible(network netip.Prefix) bool {
	const widest, widestV6 = 8, 32
	for _, private := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"} {
		if p := netip.MustParsePrefix(private); p.Bits() <= network.Bits() && p.Contains(network.Addr()) {
			return true
		}
	}
	if network.Addr().Is4() {
		return network.Bits() >= widest
	}
	return !network.Addr().Is4In6() && network.Bits() >= widestV6
}

// seedNetworks are the networks of the nodes, pods and services of seeds. A seed may be on this machine, or in its network.
func (r *Reconciler) seedNetworks(ctx context.Context) ([]netip.Prefix, error) {
	seeds := &gardencorev1beta1.SeedList{}
	if err := r.Client.List(ctx, seeds, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list seeds: %w", err)
	}
	var networks []netip.Prefix
	for i := range seeds.Items {
		of := &seeds.Items[i].Spec.Networks
		for _, network := range []string{ptr.Deref(of.Nodes, ""), of.Pods, of.Services} {
			if prefix, err := netip.ParsePrefix(network); err == nil && Plausible(prefix) {
				networks = append(networks, prefix)
			}
		}
	}
	return networks, nil
}

// read reads the Secret of a Plant around the cache, which holds only metadata.
func (r *Reconciler) read(ctx context.Context, p *gardencorev1beta1.Plant) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: p.Spec.SecretRef.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // It may not be there yet, or any more.
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %q: %w", p.Spec.SecretRef.Name, err)
	}
	return secret, nil
}
