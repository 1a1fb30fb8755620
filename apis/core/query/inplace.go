// SPDX-License-Identifier: Apache-2.0

package query

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// inPlaceHashPrefix tells hashes of this function from those that other extensions make up.
	inPlaceHashPrefix = "v1-"
	// inPlaceHashLength is short enough for a label.
	inPlaceHashLength = 16
)

// The reasons for which the machines of a pool are to be replaced, or updated in place, by their time.
const (
	RolloutOfAuthorities       = "authorities"
	RolloutOfServiceAccountKey = "serviceAccountKey"
	RolloutByHand              = "manual"
)

// InPlace reports whether the machines of a pool are updated in place and not replaced.
func InPlace(pool *gardencorev1beta1.Worker) bool {
	return pool.UpdateStrategy != nil && *pool.UpdateStrategy != gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate
}

// InPlaceHash covers everything of a pool whose change drains the nodes of a pool that is updated in place: the versions of Kubernetes and of
// the machine image, what is reserved on a node and how its processors are shared, the DNS cache, and the begin of the rotations that concern
// machines.
func InPlaceHash(shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker) string {
	covered := struct {
		Version, Image string
		DNSCache       bool
		KubeReserved   *gardencorev1beta1.KubeletConfigReserved
		EvictionHard   *gardencorev1beta1.KubeletConfigEviction
		CPUManager     *string
		Rollouts       map[string]int64
	}{Version: PoolVersion(&shoot.Spec, pool), DNSCache: NodeLocalDNS(&shoot.Spec) != nil, Rollouts: map[string]int64{}}
	if image := pool.Machine.Image; image != nil && image.Version != nil {
		covered.Image = *image.Version
	}
	if k := PoolKubelet(&shoot.Spec, pool); k != nil {
		covered.KubeReserved, covered.EvictionHard, covered.CPUManager = k.KubeReserved, k.EvictionHard, k.CPUManagerPolicy
	}
	for what, at := range PoolRollouts(shoot, pool.Name) {
		covered.Rollouts[what] = at.Unix()
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "" // Texts, numbers and quantities can always be encoded.
	}
	sum := sha256.Sum256(data)
	return inPlaceHashPrefix + hex.EncodeToString(sum[:])[:inPlaceHashLength]
}

// IsInPlaceHash reports whether a hash is one of InPlaceHash. Those that other providers make up cannot be compared with it.
func IsInPlaceHash(hash string) bool { return strings.HasPrefix(hash, inPlaceHashPrefix) }

// PoolKubelet is the configuration of the kubelets of a pool: its own, or that of the shoot.
func PoolKubelet(s *gardencorev1beta1.ShootSpec, pool *gardencorev1beta1.Worker) *gardencorev1beta1.KubeletConfig {
	if pool.Kubernetes != nil && pool.Kubernetes.Kubelet != nil {
		return pool.Kubernetes.Kubelet
	}
	return s.Kubernetes.Kubelet
}

// PoolRollouts are the times at which the machines of a pool were last to be replaced, by the reason for it. A pool that a rotation of
// credentials does not roll out yet still has the time of the rotation before (GLET-CRED-7).
func PoolRollouts(shoot *gardencorev1beta1.Shoot, pool string) map[string]*metav1.Time {
	times := map[string]*metav1.Time{}
	if c := shoot.Status.Credentials; c != nil && c.Rotation != nil {
		if ca := c.Rotation.CertificateAuthorities; ca != nil {
			times[RolloutOfAuthorities] = rolloutOf(pool, ca.PendingWorkersRollouts, ca.LastInitiationTime)
		}
		if key := c.Rotation.ServiceAccountKey; key != nil {
			times[RolloutOfServiceAccountKey] = rolloutOf(pool, key.PendingWorkersRollouts, key.LastInitiationTime)
		}
	}
	if m := shoot.Status.ManualWorkerPoolRollout; m != nil {
		times[RolloutByHand] = rolloutOf(pool, m.PendingWorkersRollouts, nil)
	}
	for what, at := range times {
		if at == nil {
			delete(times, what)
		}
	}
	return times
}

func rolloutOf(pool string, own []gardencorev1beta1.PendingWorkersRollout, otherwise *metav1.Time) *metav1.Time {
	for i := range own {
		if own[i].Name == pool {
			return own[i].LastInitiationTime
		}
	}
	return otherwise
}

// PendingInPlace returns which pools of a shoot are still to be updated in place. Updated are the hashes for which all machines of a pool were
// updated; a pool without one has no machines that could be behind, or nothing is known of them. It is nil if there are none (GLET-STAT-1).
func PendingInPlace(shoot *gardencorev1beta1.Shoot, updated map[string]string) *gardencorev1beta1.InPlaceUpdatesStatus {
	p := &gardencorev1beta1.PendingWorkerUpdates{}
	for i := range shoot.Spec.Provider.Workers {
		pool := &shoot.Spec.Provider.Workers[i]
		hash, known := updated[pool.Name]
		switch {
		case !InPlace(pool) || !known || !IsInPlaceHash(hash) || hash == InPlaceHash(shoot, pool):
		case *pool.UpdateStrategy == gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate:
			p.ManualInPlaceUpdate = append(p.ManualInPlaceUpdate, pool.Name)
		default:
			p.AutoInPlaceUpdate = append(p.AutoInPlaceUpdate, pool.Name)
		}
	}
	if len(p.AutoInPlaceUpdate)+len(p.ManualInPlaceUpdate) == 0 {
		return nil
	}
	return &gardencorev1beta1.InPlaceUpdatesStatus{PendingWorkerUpdates: p}
}

// PendingManually returns the pools whose machines wait until their owner selects them for an update in place.
func PendingManually(shoot *gardencorev1beta1.Shoot) []string {
	if i := shoot.Status.InPlaceUpdates; i != nil && i.PendingWorkerUpdates != nil {
		return i.PendingWorkerUpdates.ManualInPlaceUpdate
	}
	return nil
}

// UpdatesInPlace reports whether a pool is still to be updated in place.
func UpdatesInPlace(shoot *gardencorev1beta1.Shoot, pool string) bool {
	i := shoot.Status.InPlaceUpdates
	return i != nil && i.PendingWorkerUpdates != nil &&
		(slices.Contains(i.PendingWorkerUpdates.AutoInPlaceUpdate, pool) || slices.Contains(i.PendingWorkerUpdates.ManualInPlaceUpdate, pool))
}
