// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// UpdatedPools returns for which state of each pool its machines were last updated in place. The provider says it in the status of the Worker.
// One that counts in another way says nothing that can be compared: of its pools the nodes tell what their agents have applied, and byNodes is
// set. Nothing is known of a pool without nodes, or as long as there is no access to the shoot (GLET-STAT-1).
func UpdatedPools(
	ctx context.Context, shoots *kit.Shoots, s *gardencorev1beta1.Shoot, worker *gardenextensionsv1alpha1.Worker,
) (updated map[string]string, byNodes bool, err error) {
	updated = map[string]string{}
	if said := worker.Status.InPlaceUpdates; said != nil {
		maps.Copy(updated, said.WorkerPoolToHashMap)
	}
	unsaid := map[string]string{}
	for i := range s.Spec.Provider.Workers {
		pool := &s.Spec.Provider.Workers[i]
		if query.InPlace(pool) && !query.IsInPlaceHash(updated[pool.Name]) {
			unsaid[pool.Name] = query.InPlaceHash(s, pool)
		}
	}
	if len(unsaid) == 0 {
		return updated, false, nil
	}
	access, err := shoots.Get(ctx, s.Status.TechnicalID)
	if errors.Is(err, kit.ErrNoShootAccess) {
		return updated, true, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("look which nodes are updated in place: %w", err)
	}
	nodes := &corev1.NodeList{}
	if err := access.List(ctx, nodes, client.HasLabels{gardencorev1beta1.LabelWorkerPool}); err != nil {
		return nil, true, fmt.Errorf("look which nodes are updated in place: list nodes: %w", err)
	}
	for pool, wanted := range unsaid {
		if applied := appliedBy(nodes.Items, pool, wanted); applied != "" {
			updated[pool] = applied
		}
	}
	return updated, true, nil
}

// appliedBy is the state that all nodes of a pool have applied: the wanted one, or that of a node that is behind. A node that has just been made may
// have said nothing yet.
func appliedBy(nodes []corev1.Node, pool, wanted string) string {
	all := ""
	for i := range nodes {
		applied := nodes[i].Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied]
		switch {
		case nodes[i].Labels[gardencorev1beta1.LabelWorkerPool] != pool || applied == "":
		case applied != wanted:
			return applied
		default:
			all = applied
		}
	}
	return all
}
