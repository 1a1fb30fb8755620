// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// skew is by how much a clock may be set back without a bastion losing its age.
const skew = 10 * time.Minute

// Verdict says what happens to a bastion.
type Verdict struct {
	// Reason says why the bastion is deleted; it is empty if the bastion stays.
	Reason string
	// Left is the time after which a bastion that stays has to be judged again. It is not negative.
	Left time.Duration
}

// Judge decides about a bastion that is not in deletion. The shoot is nil if it does not exist.
func Judge(b *gardenoperationsv1alpha1.Bastion, shoot *gardencorev1beta1.Shoot, maxLifetime time.Duration, now time.Time) Verdict {
	if reason := stray(b, shoot); reason != "" {
		return Verdict{Reason: reason}
	}
	left := b.CreationTimestamp.Add(maxLifetime).Sub(now)
	switch {
	case left < 0:
		return Verdict{Reason: "it has reached its maximum lifetime"}
	case left > maxLifetime+skew:
		return Verdict{Reason: "it was created in the future, by a clock that was wrong, so its age is not known"}
	}
	if end := b.Status.ExpirationTimestamp; end != nil {
		expires := end.Sub(now)
		if expires < 0 {
			return Verdict{Reason: "it has expired"}
		}
		left = min(left, expires)
	}
	return Verdict{Left: left}
}

// closed reports whether the owner of a shoot wants nobody to log in to its machines.
func closed(shoot *gardencorev1beta1.Shoot) bool {
	settings := shoot.Spec.Provider.WorkersSettings
	return settings != nil && settings.SSHAccess != nil && !settings.SSHAccess.Enabled
}

// stray returns why a bastion does not belong to its shoot any more (GCM-BASTION-3, GLET-BASTION-5).
func stray(b *gardenoperationsv1alpha1.Bastion, shoot *gardencorev1beta1.Shoot) string {
	switch {
	case shoot == nil:
		return "its shoot does not exist"
	case shoot.DeletionTimestamp != nil:
		return "its shoot is being deleted"
	case shoot.Spec.SeedName == nil || b.Spec.SeedName == nil || *shoot.Spec.SeedName != *b.Spec.SeedName:
		return "its shoot is on another seed"
	case closed(shoot):
		return "the machines of its shoot cannot be reached by SSH any more"
	default:
		return ""
	}
}
