// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const verbRaiseLimits = "raise-spec-limits"

// limitNeeds returns the permission that is required to raise the limits of a project's profile above those of its parent. The limits
// of the parent would otherwise not apply to projects, whose admins make such profiles.
func (r *rule) limitNeeds(ctx context.Context, a admission.Attributes) ([]need, error) {
	p, ok := a.GetObject().(*gardencorev1beta1.NamespacedCloudProfile)
	if !ok {
		return nil, nil
	}
	var was *gardencorev1beta1.Limits
	if old := before[gardencorev1beta1.NamespacedCloudProfile](a); old != nil {
		was = old.Spec.Limits
	}
	if !raises(p.Spec.Limits, was) {
		return nil, nil
	}
	parent, err := r.world.Fresh().CloudProfile(ctx, p.Spec.Parent.Name)
	if apierrors.IsNotFound(err) {
		// Another rule refuses a profile without a parent.
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read cloud profile %q: %w", p.Spec.Parent.Name, err)
	}
	if bound := maxNodes(parent.Spec.Limits); bound == nil || *maxNodes(p.Spec.Limits) <= *bound {
		return nil, nil
	}

	return []need{{verbRaiseLimits, "spec.limits.maxNodesTotal, which is above the limit of the parent,"}}, nil
}

// raises reports whether limits are set that the old ones of the same profile do not allow already.
func raises(now, was *gardencorev1beta1.Limits) bool {
	nodes, before := maxNodes(now), maxNodes(was)

	return nodes != nil && (before == nil || *nodes > *before)
}

func maxNodes(l *gardencorev1beta1.Limits) *int32 {
	if l == nil {
		return nil
	}

	return l.MaxNodesTotal
}
