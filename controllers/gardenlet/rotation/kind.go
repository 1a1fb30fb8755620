// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// kind is a rotation in two steps: between them, both the old and the new credentials are valid.
type kind struct {
	// what is rotated.
	what string
	// awake is set if objects in the cluster have to be written, so that it has to run.
	awake bool
	// fields finds the fields of the status. If there are none, it makes them if it is told to, and returns nil otherwise.
	fields func(r *gardencorev1beta1.ShootCredentialsRotation, makeThem bool) *fields
}

// fields point into the status of one rotation.
type fields struct {
	phase                                     *gardencorev1beta1.CredentialsRotationPhase
	initiated, prepared, triggered, completed **metav1.Time
	// pools is nil if machines have nothing to do with it.
	pools *[]gardencorev1beta1.PendingWorkersRollout
}

func authorities() kind {
	return kind{what: "certificate authorities", fields: func(r *gardencorev1beta1.ShootCredentialsRotation, makeThem bool) *fields {
		if r.CertificateAuthorities == nil && !makeThem {
			return nil
		}
		c := ensure(&r.CertificateAuthorities)

		return &fields{
			phase: &c.Phase, initiated: &c.LastInitiationTime, prepared: &c.LastInitiationFinishedTime,
			triggered: &c.LastCompletionTriggeredTime, completed: &c.LastCompletionTime, pools: &c.PendingWorkersRollouts,
		}
	}}
}

func serviceAccountKey() kind {
	return kind{what: "service account key", awake: true, fields: func(r *gardencorev1beta1.ShootCredentialsRotation, makeThem bool) *fields {
		if r.ServiceAccountKey == nil && !makeThem {
			return nil
		}
		c := ensure(&r.ServiceAccountKey)

		return &fields{
			phase: &c.Phase, initiated: &c.LastInitiationTime, prepared: &c.LastInitiationFinishedTime,
			triggered: &c.LastCompletionTriggeredTime, completed: &c.LastCompletionTime, pools: &c.PendingWorkersRollouts,
		}
	}}
}

func encryptionKey() kind {
	return kind{what: "etcd encryption key", awake: true, fields: func(r *gardencorev1beta1.ShootCredentialsRotation, makeThem bool) *fields {
		if r.ETCDEncryptionKey == nil && !makeThem {
			return nil
		}
		c := ensure(&r.ETCDEncryptionKey)

		return &fields{
			phase: &c.Phase, initiated: &c.LastInitiationTime, prepared: &c.LastInitiationFinishedTime,
			triggered: &c.LastCompletionTriggeredTime, completed: &c.LastCompletionTime,
		}
	}}
}

func ensure[T any](field **T) *T {
	if *field == nil {
		*field = new(T)
	}

	return *field
}

// of finds the rotations in a status, or returns nil.
func of(s *gardencorev1beta1.Shoot) *gardencorev1beta1.ShootCredentialsRotation {
	if s.Status.Credentials == nil {
		return nil
	}

	return s.Status.Credentials.Rotation
}

// phaseOf is the phase of a rotation; it is empty if there was none yet.
func (k kind) phaseOf(s *gardencorev1beta1.Shoot) gardencorev1beta1.CredentialsRotationPhase {
	r := of(s)
	if r == nil {
		return ""
	}
	f := k.fields(r, false)
	if f == nil {
		return ""
	}

	return *f.phase
}

// awake reports whether a shoot is to run and does.
func awake(s *gardencorev1beta1.Shoot) bool {
	return !query.HibernationWanted(s) && !s.Status.Hibernated
}

// Continues reports whether a rotation waits for nothing but the next run.
func Continues(s *gardencorev1beta1.Shoot) bool {
	return s.DeletionTimestamp == nil && awake(s) && completesByItself(s)
}

// completesByItself reports whether the second step of a rotation follows the first without being asked for.
func completesByItself(s *gardencorev1beta1.Shoot) bool {
	r := of(s)
	if r == nil || r.ETCDEncryptionKey == nil || r.ETCDEncryptionKey.AutoCompleteAfterPrepared == nil {
		return false
	}

	return *r.ETCDEncryptionKey.AutoCompleteAfterPrepared && r.ETCDEncryptionKey.Phase == gardencorev1beta1.CredentialsRotationPhasePrepared
}

// withoutPools takes pools out of a list of pending rollouts.
func withoutPools(pending []gardencorev1beta1.PendingWorkersRollout, gone func(name string) bool) []gardencorev1beta1.PendingWorkersRollout {
	left := slices.DeleteFunc(slices.Clone(pending), func(p gardencorev1beta1.PendingWorkersRollout) bool { return gone(p.Name) })
	if len(left) == 0 {
		return nil
	}

	return left
}
