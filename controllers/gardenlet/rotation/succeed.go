// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Succeed changes the status of a shoot after a run that has succeeded. ran says whether the cluster has run all the time; otherwise
// rotations that need that stay where they are.
func Succeed(s *gardencorev1beta1.Shoot, ran bool, now time.Time) {
	known := func(pool string) bool { return query.Pool(&s.Spec, pool) != nil }
	if m := s.Status.ManualWorkerPoolRollout; m != nil {
		m.PendingWorkersRollouts = withoutPools(m.PendingWorkersRollouts, func(name string) bool { return !known(name) })
		if len(m.PendingWorkersRollouts) == 0 {
			s.Status.ManualWorkerPoolRollout = nil
		}
	}
	r := of(s)
	if r == nil {
		return
	}
	at := metav1.NewTime(now.Truncate(time.Second))
	for _, k := range []kind{authorities(), serviceAccountKey(), encryptionKey()} {
		f := k.fields(r, false)
		if f == nil || k.awake && !ran {
			continue
		}
		if f.pools != nil {
			// The machines of a shoot that sleeps are new when it wakes up (GLET-CRED-7).
			*f.pools = withoutPools(*f.pools, func(name string) bool { return !ran || !known(name) })
			if len(*f.pools) == 0 && ran && len(query.PendingManually(s)) > 0 && WaitsForMachines(*f.phase) {
				continue // The owner has not selected all machines yet that need the new credentials (GLET-CRED-8).
			}
		}
		f.advance(&at)
	}
	if e := r.ETCDEncryptionKey; e != nil && e.Phase == completed {
		e.AutoCompleteAfterPrepared = nil
	}
	if key := r.SSHKeypair; key != nil && underWay(key) {
		key.LastCompletionTime = &at
	}
}

// WaitsForMachines reports whether a rotation is in a phase that ends when all machines have the new credentials.
func WaitsForMachines(phase gardencorev1beta1.CredentialsRotationPhase) bool {
	return phase == preparing || phase == preparingNoRolls || phase == waiting
}

// advance leads a rotation into its next phase, if a run was all that it has waited for.
func (f *fields) advance(at *metav1.Time) {
	switch *f.phase {
	case preparing, preparingNoRolls, waiting:
		if f.pools != nil && len(*f.pools) > 0 {
			*f.phase = waiting
			return
		}
		*f.phase, *f.prepared = prepared, at
	case completing:
		*f.phase, *f.completed = completed, at
		*f.prepared, *f.triggered = nil, nil
	default:
	}
}
