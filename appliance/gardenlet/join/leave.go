// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
)

// LeaveOptions say from which cluster the gardenlet is removed.
type LeaveOptions struct {
	// SeedKubeconfig and SeedContext say how the cluster is reached.
	SeedKubeconfig, SeedContext string
	// DeleteSeed also deletes the Seed in the garden, and what the gardenlet deployed in the cluster.
	DeleteSeed bool
	// Timeout limits the whole operation.
	Timeout time.Duration
}

// Leave removes the gardenlet from a cluster. Without DeleteSeed, the Seed, its shoots and its extensions stay, and are not
// reconciled until a gardenlet of the same seed is deployed again.
func Leave(ctx context.Context, o LeaveOptions, s Surroundings) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	target, err := openCluster(ctx, o.SeedKubeconfig, o.SeedContext, s.UserAgent)
	if err != nil {
		return err
	}
	found, err := findInstalled(ctx, target.client)
	if err != nil {
		return err
	}
	if found.seed == "" {
		return fmt.Errorf("%w (%s)", ErrNoGardenlet, target.config.Host)
	}
	l := &leaver{Surroundings: s, cluster: target, installed: found, engine: deploy.Engine{Client: target.client, Owner: fieldOwner, Clock: s.Clock}}
	if o.DeleteSeed {
		if err := l.deleteSeed(ctx); err != nil {
			return err
		}
	}
	if err := l.removeGardenlet(ctx); err != nil {
		return err
	}
	if o.DeleteSeed {
		return l.removeNamespace(ctx)
	}
	s.Tell(fmt.Sprintf("Seed %q stays in the garden, without a gardenlet", found.seed))
	return nil
}

type leaver struct {
	Surroundings

	cluster   *cluster
	installed installed
	engine    deploy.Engine
}

// deleteSeed deletes the Seed with the credentials of the gardenlet. The gardenlet then removes what it deployed.
func (l *leaver) deleteSeed(ctx context.Context) error {
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
	seed := &gardencorev1beta1.Seed{}
	seed.Name = l.installed.seed
	if err := client.IgnoreNotFound(garden.Delete(ctx, seed)); err != nil {
		return fmt.Errorf("delete seed %q: %w", seed.Name, err)
	}
	l.Tell(fmt.Sprintf("  ✓ Deletion of seed %q requested", seed.Name))
	return l.awaitDeletion(ctx, garden, seed)
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
	garden := gardencorev1beta1.NamespaceGarden
	bootstrapNamespace, bootstrapName := reference(l.installed.config, "bootstrapKubeconfig")
	namespace, name := reference(l.installed.config, "kubeconfigSecret")
	workload := object("apps/v1", "Deployment", garden, deploymentName)
	rest := []client.Object{
		object("v1", "ConfigMap", garden, configMapName),
		object("v1", "ConfigMap", garden, "gardenlet-imagevector-overwrite"),
		object("v1", "Secret", bootstrapNamespace, bootstrapName),
		object("v1", "Secret", namespace, name),
		object("coordination.k8s.io/v1", "Lease", garden, leaseOf(l.installed.config)),
		object("v1", "ServiceAccount", garden, deploymentName),
		object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "gardener.cloud:system:gardenlet"),
	}
	// The process is removed before its permissions, so that it can release its lease.
	for _, objects := range [][]client.Object{{workload}, rest} {
		err := errors.Join(l.engine.Delete(ctx, objects...), l.engine.WaitGone(ctx, objects...), awaitNoPods(ctx, l.engine))
		if err != nil {
			return fmt.Errorf("remove the gardenlet of seed %q: %w", l.installed.seed, err)
		}
	}
	l.Tell(fmt.Sprintf("  ✓ Gardenlet removed from %s", l.cluster.config.Host))
	return nil
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
