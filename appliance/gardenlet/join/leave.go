// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

var (
	// ErrNoGardenlet says that there is no gardenlet to remove.
	ErrNoGardenlet = errors.New("the cluster has no gardenlet")
	// ErrInUse says that there are shoots on the seed.
	ErrInUse = errors.New("the seed is in use")
	// ErrRuns says that a gardenlet outside of the cluster still runs.
	ErrRuns = errors.New("the gardenlet still runs as a process outside of the cluster")
	// ErrForeign says that the gardenlet was deployed in another way.
	ErrForeign = errors.New("the gardenlet in the cluster was not deployed by a join: remove it in the way in which it was deployed")
)

// LeaveOptions say from which cluster the gardenlet is removed.
type LeaveOptions struct {
	// SeedKubeconfig and SeedContext say how the cluster is reached.
	SeedKubeconfig, SeedContext string
	// DeleteSeed also deletes the Seed in the garden, and what the gardenlet deployed in the cluster.
	DeleteSeed bool
	// Timeout limits the checks, and again the removal.
	Timeout time.Duration
	// Confirm is called after all checks, before anything is changed. Its error ends the operation.
	Confirm func(ctx context.Context, d Departure) error
}

// Departure says what is removed.
type Departure struct {
	// Cluster is the address of the cluster, and Seed the name of its seed.
	Cluster, Seed string
	// DeleteSeed says that the Seed is deleted, too.
	DeleteSeed bool
	// Process says that the gardenlet runs outside of the cluster.
	Process bool
	// Objects are those in the cluster that are deleted, if they exist, as KIND NAMESPACE/NAME.
	Objects []string
}

// Leave removes the gardenlet from a cluster. Without DeleteSeed, the Seed, its shoots and its extensions stay, and are not
// reconciled until a gardenlet of the same seed is deployed again.
func Leave(ctx context.Context, o LeaveOptions, s Surroundings) error {
	l, err := prepareLeave(ctx, o, s)
	if err != nil {
		return err
	}
	if o.Confirm != nil {
		if err := o.Confirm(ctx, l.departure()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if o.DeleteSeed {
		if err := l.deleteSeed(ctx); err != nil {
			return err
		}
	}
	if err := l.removeGardenlet(ctx); err != nil {
		return err
	}
	if l.installed.process {
		s.Tell("The gardenlet was a process: remove its configuration and its service from its machine, and stop it if it runs")
	}
	if o.DeleteSeed {
		return l.removeNamespace(ctx)
	}
	s.Tell(fmt.Sprintf("Seed %q stays in the garden, without a gardenlet", l.installed.seed))
	return nil
}

type leaver struct {
	Surroundings

	cluster   *cluster
	installed installed
	engine    deploy.Engine
	// garden reads and deletes the Seed; nil if it stays.
	garden client.Client
}

// prepareLeave looks what there is to remove, and whether it may be removed. It changes nothing.
func prepareLeave(ctx context.Context, o LeaveOptions, s Surroundings) (*leaver, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	target, err := openCluster(ctx, o.SeedKubeconfig, o.SeedContext, s.UserAgent)
	if err != nil {
		return nil, err
	}
	usual, err := usualConfig()
	if err != nil {
		return nil, err
	}
	found, err := findInstalled(ctx, target.client, usual)
	if err != nil {
		return nil, err
	}
	if found.seed == "" {
		return nil, fmt.Errorf("%w (%s)", ErrNoGardenlet, target.config.Host)
	}
	l := &leaver{Surroundings: s, cluster: target, installed: found, engine: deploy.Engine{Client: target.client, Owner: fieldOwner, Clock: s.Clock}}
	if found.process {
		if err := l.checkProcess(ctx, o.DeleteSeed); err != nil {
			return nil, err
		}
	}
	if o.DeleteSeed {
		return l, l.checkSeed(ctx)
	}
	return l, nil
}

func (l *leaver) departure() Departure {
	d := Departure{Cluster: l.cluster.config.Host, Seed: l.installed.seed, DeleteSeed: l.garden != nil, Process: l.installed.process}
	for _, group := range l.objects() {
		for _, o := range group {
			d.Objects = append(d.Objects, fmt.Sprintf("%s %s", o.GetObjectKind().GroupVersionKind().Kind, strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")))
		}
	}
	return d
}

// checkProcess returns an error if the gardenlet whose credentials are in the cluster is not one that runs outside of it, or if it would
// go on without them. To delete its Seed, it has to run.
func (l *leaver) checkProcess(ctx context.Context, deleteSeed bool) error {
	workload := object("apps/v1", "Deployment", gardencorev1beta1.NamespaceGarden, deploymentName)
	err := l.cluster.client.Get(ctx, client.ObjectKeyFromObject(workload), workload)
	if err == nil {
		return fmt.Errorf("%w: its Deployment has no ConfigMap %q", ErrForeign, configMapName)
	}
	if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return fmt.Errorf("look for a gardenlet in the cluster: %w", err)
	}
	if deleteSeed {
		return nil
	}
	lease := &coordinationv1.Lease{}
	err = l.cluster.client.Get(ctx, client.ObjectKeyFromObject(leaseObject(l.installed.config)), lease)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	holder, renewed, seconds := ptr.Deref(lease.Spec.HolderIdentity, ""), lease.Spec.RenewTime, ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)
	if holder != "" && renewed != nil && l.Clock.Now().Before(renewed.Add(time.Duration(seconds)*time.Second)) {
		return hinted(fmt.Errorf("%w: seed %q, process %q", ErrRuns, l.installed.seed, holder), "stop it before")
	}
	return nil
}

// checkSeed returns an error if the Seed cannot be deleted.
func (l *leaver) checkSeed(ctx context.Context) error {
	v := &observer{cluster: l.cluster, config: l.installed.config}
	garden, err := v.gardenClient(ctx)
	if err != nil {
		return hinted(err, "omit --delete-seed to remove the gardenlet only")
	}
	shoots := &gardencorev1beta1.ShootList{}
	labels := client.MatchingLabels{gardencorev1beta1.LabelPrefixSeedName + l.installed.seed: "true"}
	if err := garden.List(ctx, shoots, labels); err != nil {
		return fmt.Errorf("list shoots of seed %q: %w", l.installed.seed, err)
	}
	if len(shoots.Items) > 0 {
		names := make([]string, 0, len(shoots.Items))
		for i := range shoots.Items {
			names = append(names, client.ObjectKeyFromObject(&shoots.Items[i]).String())
		}
		return hinted(fmt.Errorf("%w: %s", ErrInUse, strings.Join(names, ", ")), "delete these shoots first, or omit --delete-seed")
	}
	l.garden = garden
	return nil
}

// deleteSeed deletes the Seed with the credentials of the gardenlet. The gardenlet then removes what it deployed.
func (l *leaver) deleteSeed(ctx context.Context) error {
	seed := &gardencorev1beta1.Seed{}
	seed.Name = l.installed.seed
	if err := client.IgnoreNotFound(l.garden.Delete(ctx, seed)); err != nil {
		return fmt.Errorf("delete seed %q: %w", seed.Name, err)
	}
	l.Tell(fmt.Sprintf("  ✓ Deletion of seed %q requested", seed.Name))
	return l.awaitDeletion(ctx, l.garden, seed)
}

func (l *leaver) awaitDeletion(ctx context.Context, garden client.Client, seed *gardencorev1beta1.Seed) error {
	told := ""
	err := flow.Until(ctx, l.Clock, flow.Every(time.Second), func(ctx context.Context) error {
		err := garden.Get(ctx, client.ObjectKeyFromObject(seed), seed)
		if apierrors.IsNotFound(err) {
			return nil
		}
		last := seed.Status.LastOperation
		if err == nil && last != nil && last.Type == gardencorev1beta1.LastOperationTypeDelete && last.Description != told {
			told = last.Description
			l.Tell("  … " + told)
		}
		return errors.New(strings.TrimSuffix("it still exists: "+told, ": "))
	})
	if err != nil {
		return fmt.Errorf("wait for the deletion of seed %q: %w", seed.Name, err)
	}
	l.Tell(fmt.Sprintf("  ✓ Seed %q deleted", seed.Name))
	return nil
}

// removeGardenlet deletes what a join creates, and what the gardenlet stores in the cluster.
func (l *leaver) removeGardenlet(ctx context.Context) error {
	for _, objects := range l.objects() {
		err := errors.Join(l.engine.Delete(ctx, objects...), l.engine.WaitGone(ctx, objects...), awaitNoPods(ctx, l.engine))
		if err != nil {
			return fmt.Errorf("remove the gardenlet of seed %q: %w", l.installed.seed, err)
		}
	}
	l.Tell(fmt.Sprintf("  ✓ Gardenlet removed from %s", l.cluster.config.Host))
	return nil
}

// objects are those of the gardenlet, in the order in which they are deleted: the workload before its permissions, so that it can release
// its lease.
func (l *leaver) objects() [][]client.Object {
	garden := gardencorev1beta1.NamespaceGarden
	bootstrapNamespace, bootstrapName := reference(l.installed.config, "bootstrapKubeconfig")
	namespace, name := reference(l.installed.config, "kubeconfigSecret")
	own := []client.Object{
		object("v1", "Secret", bootstrapNamespace, bootstrapName),
		object("v1", "Secret", namespace, name),
		leaseObject(l.installed.config),
	}
	if l.installed.process {
		return [][]client.Object{own}
	}
	return [][]client.Object{
		{object("apps/v1", "Deployment", garden, deploymentName)},
		append(own,
			object("v1", "ConfigMap", garden, configMapName),
			object("v1", "ConfigMap", garden, "gardenlet-imagevector-overwrite"),
			object("v1", "ServiceAccount", garden, deploymentName),
			object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "gardener.cloud:system:gardenlet"),
		),
	}
}

// removeNamespace deletes the namespace if a join created it.
func (l *leaver) removeNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{}
	err := l.cluster.client.Get(ctx, client.ObjectKey{Name: gardencorev1beta1.NamespaceGarden}, namespace)
	if apierrors.IsNotFound(err) || (err == nil && namespace.Labels[labelMadeBy] != madeByJoin) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get namespace %q: %w", gardencorev1beta1.NamespaceGarden, err)
	}
	if err := errors.Join(l.engine.Delete(ctx, namespace), l.engine.WaitGone(ctx, namespace)); err != nil {
		return fmt.Errorf("remove namespace %q: %w", namespace.Name, err)
	}
	l.Tell(fmt.Sprintf("  ✓ Namespace %s removed", namespace.Name))
	return nil
}
