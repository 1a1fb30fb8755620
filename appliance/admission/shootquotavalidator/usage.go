// SPDX-License-Identifier: Apache-2.0

package shootquotavalidator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	standard = "standard"
	premium  = "premium"
)

// usage returns what a shoot uses if each of its pools has its maximum size (API-QUOTA-3).
func usage(ctx context.Context, v world.View, s *gardencorev1beta1.Shoot) (corev1.ResourceList, error) {
	profile, err := v.ProfileOf(ctx, &s.Spec, s.Namespace)
	if err != nil {
		return nil, fmt.Errorf("determine usage of shoot %s/%s: %w", s.Namespace, s.Name, err)
	}
	if profile == nil {
		return nil, fmt.Errorf("%w: shoot %s/%s has no cloud profile", world.ErrUnreadable, s.Namespace, s.Name)
	}
	used := corev1.ResourceList{}
	add(used, gardencorev1beta1.QuotaMetricLoadbalancer, resource.MustParse("1"), 1)
	if query.NginxIngress(&s.Spec) != nil {
		add(used, gardencorev1beta1.QuotaMetricLoadbalancer, resource.MustParse("1"), 1)
	}
	for i := range s.Spec.Provider.Workers {
		if err := addPool(used, &profile.Spec, &s.Spec.Provider.Workers[i]); err != nil {
			return nil, fmt.Errorf("%w: shoot %s/%s: %w", world.ErrUnreadable, s.Namespace, s.Name, err)
		}
	}
	return used, nil
}

// addPool adds what a pool uses. It fails for types that are not in the profile; another plugin checks that the profile
// offers them.
func addPool(used corev1.ResourceList, p *gardencorev1beta1.CloudProfileSpec, pool *gardencorev1beta1.Worker) error {
	i := slices.IndexFunc(p.MachineTypes, func(t gardencorev1beta1.MachineType) bool { return t.Name == pool.Machine.Type })
	if i < 0 {
		return fmt.Errorf("machine type %q of pool %q is not in the cloud profile", pool.Machine.Type, pool.Name)
	}
	machine := p.MachineTypes[i]
	class, size, err := volume(p, &machine, pool)
	if err != nil {
		return err
	}
	add(used, gardencorev1beta1.QuotaMetricCPU, machine.CPU, pool.Maximum)
	add(used, gardencorev1beta1.QuotaMetricGPU, machine.GPU, pool.Maximum)
	add(used, gardencorev1beta1.QuotaMetricMemory, machine.Memory, pool.Maximum)
	switch class {
	case standard:
		add(used, gardencorev1beta1.QuotaMetricStorageStandard, size, pool.Maximum)
	case premium:
		add(used, gardencorev1beta1.QuotaMetricStoragePremium, size, pool.Maximum)
	}
	return nil
}

// volume returns the class and the size of the root volume of a pool's machines: the one in the pool, or the one of the
// machine type.
func volume(
	p *gardencorev1beta1.CloudProfileSpec, m *gardencorev1beta1.MachineType, pool *gardencorev1beta1.Worker,
) (class string, size resource.Quantity, err error) {
	if pool.Volume == nil {
		if m.Storage == nil || m.Storage.Size == nil {
			return "", size, nil
		}
		return m.Storage.Class, *m.Storage.Size, nil
	}
	if size, err = resource.ParseQuantity(pool.Volume.Size); err != nil {
		return "", size, fmt.Errorf("volume size %q of pool %q: %w", pool.Volume.Size, pool.Name, err)
	}
	if pool.Volume.Type == nil {
		if m.Storage == nil {
			return "", size, nil
		}
		return m.Storage.Class, size, nil
	}
	i := slices.IndexFunc(p.VolumeTypes, func(t gardencorev1beta1.VolumeType) bool { return t.Name == *pool.Volume.Type })
	if i < 0 {
		return "", size, fmt.Errorf("volume type %q of pool %q is not in the cloud profile", *pool.Volume.Type, pool.Name)
	}
	return p.VolumeTypes[i].Class, size, nil
}

// add adds a quantity several times. A pool may have two thousand million machines, so that is a multiplication.
func add(to corev1.ResourceList, name corev1.ResourceName, one resource.Quantity, times int32) {
	sum, all := to[name], one.DeepCopy()
	all.Mul(int64(times))
	sum.Add(all)
	to[name] = sum
}

// exceeded returns an error with the metrics of a quota that a shoot would exceed.
func exceeded(q *gardencorev1beta1.Quota, wanted, others corev1.ResourceList) error {
	var over []string
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Metrics)) {
		limit, required := q.Spec.Metrics[name], wanted[name].DeepCopy()
		there := others[name]
		required.Add(there)
		if required.Cmp(limit) > 0 {
			asked := wanted[name]
			over = append(over, fmt.Sprintf("%s (%s here and %s by other shoots, of %s)", name, asked.String(), there.String(), limit.String()))
		}
	}
	if len(over) == 0 {
		return nil
	}
	return fmt.Errorf("quota %s/%s is exceeded: %s", q.Namespace, q.Name, strings.Join(over, ", "))
}
