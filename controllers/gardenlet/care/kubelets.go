// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// expiredShare is the part of the nodes, one in so many, whose kubelets have to be silent until that is told.
const expiredShare = 5

// Kubelets are what is heard of the kubelets of a shoot. A node stays ready for as long as no controller finds out that its kubelet is
// silent, and that controller may be what does not run.
type Kubelets struct {
	// Leases are those that kubelets renew, named after their nodes.
	Leases []coordinationv1.Lease
	// Err is set if they could not be listed.
	Err error
	// Now is the time of the look.
	Now time.Time
}

func kubeletsOf(ctx context.Context, access client.Reader, now time.Time) Kubelets {
	leases := &coordinationv1.LeaseList{}
	if err := access.List(ctx, leases, client.InNamespace(corev1.NamespaceNodeLease)); err != nil {
		return Kubelets{Err: fmt.Errorf("list leases of kubelets: %w", err)}
	}
	return Kubelets{Leases: leases.Items, Now: now}
}

// probed reports whether the operator of a seed wants to know when nodes lose their API server.
func probed(seed *gardencorev1beta1.Seed) bool {
	if seed == nil || seed.Spec.Settings == nil {
		return false
	}
	w := seed.Spec.Settings.DependencyWatchdog
	return w != nil && w.Prober != nil && w.Prober.Enabled
}

// judgeKubelets finds that a fifth of the nodes or more is silent. A kubelet that has no lease yet has never been heard of (GLET-CARE-13).
func judgeKubelets(c gardencorev1beta1.Condition, k Kubelets, nodes []corev1.Node) (gardencorev1beta1.Condition, bool) {
	if k.Err != nil {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError, "The kubelets could not be checked: "+k.Err.Error()
		return c, true
	}
	expired := k.expired()
	silent := 0
	for i := range nodes {
		if expired[nodes[i].Name] {
			silent++
		}
	}
	if silent == 0 || silent*expiredShare < len(nodes) {
		return c, false
	}
	return bad(c, gardencorev1beta1.ReasonTooManyExpiredNodeLeases, fmt.Sprintf("%d of %d nodes are silent: their leases have expired", silent, len(nodes))), true
}

// expired are the nodes whose kubelets have not renewed their leases in time.
func (k Kubelets) expired() map[string]bool {
	names := map[string]bool{}
	for i := range k.Leases {
		lease := &k.Leases[i]
		renewed, valid := ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{}), ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)
		names[lease.Name] = k.Now.After(renewed.Add(time.Duration(valid) * time.Second))
	}
	return names
}
