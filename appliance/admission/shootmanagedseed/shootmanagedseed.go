// SPDX-License-Identifier: Apache-2.0

// Package shootmanagedseed rejects changes of a Shoot that is a seed after which it could no longer be one (API-SMS-1, 2).
package shootmanagedseed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects changes that would break a seed. Only Shoots in the namespace garden can be seeds.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || old.Namespace != gardencorev1beta1.NamespaceGarden {
		return nil
	}
	shoot, _ := a.GetObject().(*gardencorev1beta1.Shoot)
	if a.GetOperation() == admission.Update && (shoot == nil || shoot.DeletionTimestamp != nil) {
		return nil
	}
	if a.GetOperation() == admission.Delete {
		return world.Answer(a, unused(ctx, r.world.Fresh(), old))
	}
	return r.world.Decide(a, func(v world.View) error {
		m, err := managedSeed(ctx, v, old)
		if err != nil || m == nil {
			return err
		}
		zones, err := zones(ctx, v, m.Name)
		if err != nil {
			return err
		}
		return unfit(shoot, old, zones)
	})
}

// unused rejects the deletion of a shoot that is a seed. The view must be fresh: the cached one may lack the ManagedSeed.
func unused(ctx context.Context, v world.View, s *gardencorev1beta1.Shoot) error {
	m, err := managedSeed(ctx, v, s)
	if err != nil || m == nil {
		return err
	}
	return fmt.Errorf("the shoot is the seed of ManagedSeed %q; delete that first", m.Name)
}

// managedSeed returns the ManagedSeed of a shoot, or nil.
func managedSeed(
	ctx context.Context, v world.View, s *gardencorev1beta1.Shoot,
) (*gardenseedmanagementv1alpha1.ManagedSeed, error) {
	list, err := world.List[gardenseedmanagementv1alpha1.ManagedSeedList](ctx, v, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds", Namespace: s.Namespace,
	}, fields.OneTermEqualSelector(gardenseedmanagementv1alpha1.FieldManagedSeedShootName, s.Name))
	if err != nil {
		return nil, fmt.Errorf("list managed seeds: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, nil //nolint:nilnil // Most shoots are not seeds.
	}
	return &list.Items[0], nil
}

// zones returns the zones of a seed; a seed that is not registered yet has none.
func zones(ctx context.Context, v world.View, seed string) ([]string, error) {
	found, err := v.Seed(ctx, seed)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read seed %q: %w", seed, err)
	}
	return found.Spec.Provider.Zones, nil
}

// unfit returns an error if a changed shoot can no longer be a seed, or loses what the seed uses.
func unfit(shoot, old *gardencorev1beta1.Shoot, zones []string) error {
	var errs []error
	if query.NginxIngress(&shoot.Spec) != nil {
		errs = append(errs, errors.New("spec.addons.nginxIngress.enabled: a seed has its own ingress controller"))
	}
	if vpa := shoot.Spec.Kubernetes.VerticalPodAutoscaler; vpa == nil || !vpa.Enabled {
		errs = append(errs, errors.New("spec.kubernetes.verticalPodAutoscaler.enabled: a seed needs it"))
	}
	if now, before := nodes(shoot), nodes(old); now != before {
		errs = append(errs, fmt.Errorf("spec.networking.nodes: the seed is registered with %q", before))
	}
	now, before := query.Zones(&shoot.Spec), query.Zones(&old.Spec)
	for _, zone := range zones {
		if slices.Contains(before, zone) && !slices.Contains(now, zone) {
			errs = append(errs, fmt.Errorf("spec.provider.workers: the seed uses zone %q, so a worker pool must keep it", zone))
		}
	}
	return errors.Join(errs...)
}

func nodes(s *gardencorev1beta1.Shoot) string {
	if s.Spec.Networking == nil || s.Spec.Networking.Nodes == nil {
		return ""
	}
	return *s.Spec.Networking.Nodes
}
