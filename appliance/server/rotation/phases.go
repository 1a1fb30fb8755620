// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/controllers/garden/self"
)

// Phases tells how far all rotations are, whatever has started them.
func (r *Rotations) Phases(ctx context.Context) (self.Rotations, error) {
	is := self.Rotations{}
	var err error
	if is.ServiceAccountKey, err = r.tokenRotation(ctx, serviceAccountTokens(r.keys)); err != nil {
		return is, err
	}
	if is.WorkloadIdentityKey, err = r.tokenRotation(ctx, identityTokens(r.keys)); err != nil {
		return is, err
	}
	if is.EncryptionKey, err = r.encryptionRotation(); err != nil {
		return is, err
	}
	if is.CertificateAuthorities, err = r.authorityRotation(ctx); err != nil {
		return is, err
	}
	secret, err := r.monitoring.secret(ctx)
	if _, unknown := errors.AsType[RefusedError](err); unknown {
		return is, nil
	}
	if err != nil {
		return is, err
	}
	seconds, err := strconv.ParseInt(secret.Labels[gardencorev1beta1.LabelSecretLastRotationInitiationTime], 10, 64)
	// A password that is as old as the Secret has not been rotated.
	if at := time.Unix(seconds, 0); err == nil && at.After(secret.CreationTimestamp.Time) {
		is.Observability, is.ObservabilityGoing = at, secret.Annotations[gardencorev1beta1.AnnotationOperation] != ""
	}

	return is, nil
}

// tokenRotation is how far the rotation of a key of tokens is: it prepares until all seeds have renewed theirs (OPER-ROT-7).
func (r *Rotations) tokenRotation(ctx context.Context, of tokenRenewal) (*self.Rotation, error) {
	if of.key == "" {
		return &self.Rotation{}, nil
	}
	if r.live() == nil {
		return nil, nil //nolint:nilnil // It is not known yet who waits.
	}
	waiting, err := r.tokens.waiting(ctx, of)
	if err != nil {
		return nil, err
	}
	phase := gardencorev1beta1.CredentialsRotationPhasePrepared
	if len(waiting) > 0 {
		phase = gardencorev1beta1.CredentialsRotationPhasePreparing
	}

	return &self.Rotation{Phase: phase, Since: of.since}, nil
}

// encryptionRotation is how far the rotation of the encryption key is. Its second phase begins by itself (OPER-ROT-6).
func (r *Rotations) encryptionRotation() (*self.Rotation, error) {
	is, err := r.keys.Encryption.Rotation()
	if err != nil {
		return nil, fmt.Errorf("read rotation of the encryption key: %w", err)
	}
	switch {
	case is == nil:
		return &self.Rotation{}, nil
	case is.Rewritten == nil && is.Next != identity.EncryptionEnd:
		return &self.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Since: is.Started}, nil
	default:
		return &self.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhaseCompleting, Since: is.Started}, nil
	}
}

// authorityRotation is how far the rotation of the authorities is.
func (r *Rotations) authorityRotation(ctx context.Context) (*self.Rotation, error) {
	if r.live() == nil {
		return nil, nil //nolint:nilnil // It is not known yet who waits.
	}
	is, err := r.Authorities.Status(ctx)
	if err != nil {
		return nil, err
	}
	if is == nil {
		return &self.Rotation{}, nil
	}
	phase := map[string]gardencorev1beta1.CredentialsRotationPhase{
		authoritiesPreparing:  gardencorev1beta1.CredentialsRotationPhasePreparing,
		authoritiesPrepared:   gardencorev1beta1.CredentialsRotationPhasePrepared,
		authoritiesCompleting: gardencorev1beta1.CredentialsRotationPhaseCompleting,
	}[is.Phase]

	return &self.Rotation{Phase: phase, Since: is.Started}, nil
}

// Ongoing are the rotations that go on, for the doctor. What cannot be read is reported where rotations are made.
func (r *Rotations) Ongoing() []doctor.Rotation {
	var all []doctor.Rotation
	if is := r.keys.ServiceAccount.Keys(); is.Rotating() {
		all = append(all, doctor.Rotation{
			Of: "service account key", Started: is.Since, Next: "complete it: terrarium certificate rotate-service-account-key complete",
		})
	}
	if is := r.keys.WorkloadIdentity.Keys(); is.Rotating() {
		all = append(all, doctor.Rotation{
			Of: "workload identity key", Started: is.Since, Next: "complete it: terrarium certificate rotate-workload-identity-key complete",
		})
	}
	if is, err := r.Encryption.Status(); err == nil && is != nil {
		all = append(all, doctor.Rotation{Of: "encryption key", Started: is.Started, Failure: is.Error})
	}
	if is, err := r.keys.Authorities.Rotation(); err == nil && is != nil {
		of := doctor.Rotation{Of: "certificate authorities", Started: is.Started}
		if is.Completing == nil {
			of.Next = "complete it when terrarium certificate check shows that all gardenlets are ready: terrarium certificate rotate-ca complete"
		}
		if failure := r.Authorities.failure.Load(); failure != nil {
			of.Failure = *failure
		}
		all = append(all, of)
	}

	return all
}
