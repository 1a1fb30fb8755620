// SPDX-License-Identifier: Apache-2.0

package shootquotavalidator

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// grows reports whether a shoot may use more of its quotas than before: it is new, has another binding, enables its ingress, adds
// a pool, or changes the machines, the maximum or the volume of a pool (API-QUOTA-2).
func grows(now, before *gardencorev1beta1.Shoot) bool {
	if before == nil || bindingOf(now) != bindingOf(before) || query.NginxIngress(&now.Spec) != nil && query.NginxIngress(&before.Spec) == nil {
		return true
	}
	for i := range now.Spec.Provider.Workers {
		pool := &now.Spec.Provider.Workers[i]
		was := query.Pool(&before.Spec, pool.Name)
		if was == nil || pool.Machine.Type != was.Machine.Type || pool.Maximum != was.Maximum ||
			!equality.Semantic.DeepEqual(pool.Volume, was.Volume) {
			return true
		}
	}
	return false
}
