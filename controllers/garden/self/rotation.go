// SPDX-License-Identifier: Apache-2.0

package self

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// Rotation is how far the rotation of a credential is in the server. The zero value says that none goes on.
type Rotation struct {
	// Phase is Preparing, Prepared or Completing.
	Phase gardencorev1beta1.CredentialsRotationPhase
	// Since is when it was started.
	Since time.Time
}

// Rotations are all rotations. Those that are nil are not known.
type Rotations struct {
	CertificateAuthorities, ServiceAccountKey, EncryptionKey, WorkloadIdentityKey *Rotation
	// Observability is when the password of monitoring was last changed, zero if never; and whether seeds are being told.
	Observability      time.Time
	ObservabilityGoing bool
}

// record is what the status says about a rotation.
type record struct {
	phase                                     gardencorev1beta1.CredentialsRotationPhase
	started, prepared, triggered, completedAt *metav1.Time
}

// next is the record after a look at the server. The phase is that of the server, no matter who started the rotation; the times are those
// at which this was seen, apart from the start, which the server knows.
func (r record) next(is *Rotation, now time.Time) record {
	stamp := metav1.NewTime(now)
	rests := r.phase == "" || r.phase == gardencorev1beta1.CredentialsRotationPhaseCompleted
	switch {
	case is == nil || is.Phase == "" && rests:
		return r
	case is.Phase == "":
		return record{phase: gardencorev1beta1.CredentialsRotationPhaseCompleted, started: r.started, completedAt: &stamp}
	case rests || r.started == nil || !r.started.Time.Equal(is.Since.Truncate(time.Second)):
		r = record{started: new(metav1.NewTime(is.Since.Truncate(time.Second))), completedAt: r.completedAt}
	}
	if is.Phase != gardencorev1beta1.CredentialsRotationPhasePreparing && r.prepared == nil {
		r.prepared = &stamp
	}
	if is.Phase == gardencorev1beta1.CredentialsRotationPhaseCompleting && r.triggered == nil {
		r.triggered = &stamp
	}
	r.phase = is.Phase

	return r
}

// write brings the phases in a status up to date (OPER-API-6, OPER-REC-5).
func (r *Rotations) write(status *gardenoperatorv1alpha1.GardenStatus, now time.Time) {
	if status.Credentials == nil {
		status.Credentials = &gardenoperatorv1alpha1.Credentials{}
	}
	if status.Credentials.Rotation == nil {
		status.Credentials.Rotation = &gardenoperatorv1alpha1.CredentialsRotation{}
	}
	to := status.Credentials.Rotation
	r.authorities(to, now)
	r.tokenKey(to, now)
	r.encryptionKey(to, now)
	r.workloadIdentityKey(to, now)
	if !r.Observability.IsZero() {
		last := &gardencorev1beta1.ObservabilityRotation{LastInitiationTime: new(metav1.NewTime(r.Observability))}
		if have := to.Observability; have != nil {
			last.LastCompletionTime = have.LastCompletionTime
		}
		if done := last.LastCompletionTime; !r.ObservabilityGoing && (done == nil || done.Before(last.LastInitiationTime)) {
			last.LastCompletionTime = new(metav1.NewTime(now))
		}
		to.Observability = last
	}
	if *to == (gardenoperatorv1alpha1.CredentialsRotation{}) {
		status.Credentials.Rotation = nil
	}
}

func (r *Rotations) authorities(to *gardenoperatorv1alpha1.CredentialsRotation, now time.Time) {
	var have record
	if c := to.CertificateAuthorities; c != nil {
		have = record{c.Phase, c.LastInitiationTime, c.LastInitiationFinishedTime, c.LastCompletionTriggeredTime, c.LastCompletionTime}
	}
	if n := have.next(r.CertificateAuthorities, now); n.phase != "" {
		to.CertificateAuthorities = &gardencorev1beta1.CARotation{
			Phase: n.phase, LastInitiationTime: n.started, LastInitiationFinishedTime: n.prepared, LastCompletionTriggeredTime: n.triggered,
			LastCompletionTime: n.completedAt,
		}
	}
}

func (r *Rotations) tokenKey(to *gardenoperatorv1alpha1.CredentialsRotation, now time.Time) {
	var have record
	if c := to.ServiceAccountKey; c != nil {
		have = record{c.Phase, c.LastInitiationTime, c.LastInitiationFinishedTime, c.LastCompletionTriggeredTime, c.LastCompletionTime}
	}
	if n := have.next(r.ServiceAccountKey, now); n.phase != "" {
		to.ServiceAccountKey = &gardencorev1beta1.ServiceAccountKeyRotation{
			Phase: n.phase, LastInitiationTime: n.started, LastInitiationFinishedTime: n.prepared, LastCompletionTriggeredTime: n.triggered,
			LastCompletionTime: n.completedAt,
		}
	}
}

func (r *Rotations) encryptionKey(to *gardenoperatorv1alpha1.CredentialsRotation, now time.Time) {
	var have record
	if c := to.ETCDEncryptionKey; c != nil {
		have = record{c.Phase, c.LastInitiationTime, c.LastInitiationFinishedTime, c.LastCompletionTriggeredTime, c.LastCompletionTime}
	}
	if n := have.next(r.EncryptionKey, now); n.phase != "" {
		to.ETCDEncryptionKey = &gardencorev1beta1.ETCDEncryptionKeyRotation{
			Phase: n.phase, LastInitiationTime: n.started, LastInitiationFinishedTime: n.prepared, LastCompletionTriggeredTime: n.triggered,
			LastCompletionTime: n.completedAt, AutoCompleteAfterPrepared: new(true),
		}
	}
}

func (r *Rotations) workloadIdentityKey(to *gardenoperatorv1alpha1.CredentialsRotation, now time.Time) {
	var have record
	if c := to.WorkloadIdentityKey; c != nil {
		have = record{c.Phase, c.LastInitiationTime, c.LastInitiationFinishedTime, c.LastCompletionTriggeredTime, c.LastCompletionTime}
	}
	if n := have.next(r.WorkloadIdentityKey, now); n.phase != "" {
		to.WorkloadIdentityKey = &gardenoperatorv1alpha1.WorkloadIdentityKeyRotation{
			Phase: n.phase, LastInitiationTime: n.started, LastInitiationFinishedTime: n.prepared, LastCompletionTriggeredTime: n.triggered,
			LastCompletionTime: n.completedAt,
		}
	}
}
