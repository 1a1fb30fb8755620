// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// HibernationWanted reports whether the spec of a shoot asks for hibernation.
func HibernationWanted(s *gardencorev1beta1.Shoot) bool {
	h := s.Spec.Hibernation
	return h != nil && h.Enabled != nil && *h.Enabled
}

// Workerless reports whether a shoot has no worker pools.
func Workerless(s *gardencorev1beta1.ShootSpec) bool { return len(s.Provider.Workers) == 0 }

// SSHAllowed reports whether the machines of a shoot can be reached by SSH, which is the default.
func SSHAllowed(s *gardencorev1beta1.ShootSpec) bool {
	settings := s.Provider.WorkersSettings
	return !Workerless(s) && (settings == nil || settings.SSHAccess == nil || settings.SSHAccess.Enabled)
}

// SelfHosted reports whether a shoot runs its control plane on its own machines.
func SelfHosted(s *gardencorev1beta1.ShootSpec) bool {
	for i := range s.Provider.Workers {
		if s.Provider.Workers[i].ControlPlane != nil {
			return true
		}
	}
	return false
}

// ProfileName returns the name of a shoot's cloud profile from the one of its two fields that is set.
func ProfileName(s *gardencorev1beta1.ShootSpec) string {
	switch {
	case s.CloudProfile != nil:
		return s.CloudProfile.Name
	case s.CloudProfileName != nil:
		return *s.CloudProfileName
	default:
		return ""
	}
}

// ProfileReference returns the reference to a shoot's cloud profile from the one of its two fields that is set. A reference
// without a kind refers to a CloudProfile. It is nil if the shoot names no profile.
func ProfileReference(s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.CloudProfileReference {
	ref := &gardencorev1beta1.CloudProfileReference{
		Kind: gardencorev1beta1.CloudProfileReferenceKindCloudProfile, Name: ProfileName(s),
	}
	if s.CloudProfile != nil && s.CloudProfile.Kind != "" {
		ref.Kind = s.CloudProfile.Kind
	}
	if ref.Name == "" {
		return nil
	}
	return ref
}

// ShootConditions returns the types of the conditions that a gardenlet reports about a shoot.
func ShootConditions() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeAPIServerAvailable,
		gardencorev1beta1.ConditionTypeControlPlaneHealthy,
		gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy,
		gardencorev1beta1.ConditionTypeEveryNodeReady,
		gardencorev1beta1.ConditionTypeSystemComponentsHealthy,
	}
}

// FindCondition returns the condition of a type, or nil.
func FindCondition(
	all []gardencorev1beta1.Condition, t gardencorev1beta1.ConditionType,
) *gardencorev1beta1.Condition {
	for i := range all {
		if all[i].Type == t {
			return &all[i]
		}
	}
	return nil
}

// Pool returns the worker pool of a name, or nil.
func Pool(s *gardencorev1beta1.ShootSpec, name string) *gardencorev1beta1.Worker {
	for i := range s.Provider.Workers {
		if s.Provider.Workers[i].Name == name {
			return &s.Provider.Workers[i]
		}
	}
	return nil
}

// Moving describes the move of a shoot to another seed that is about to begin or in progress. It returns an empty string if
// there is none (API-SVAL-6).
func Moving(s *gardencorev1beta1.Shoot) string {
	switch {
	case MoveBegun(s):
		return "its control plane is being moved to another seed"
	case s.Spec.SeedName != nil && s.Status.SeedName != nil && *s.Spec.SeedName != *s.Status.SeedName:
		return "its control plane is about to be moved to another seed"
	default:
		return ""
	}
}

// MoveBegun reports whether the control plane of a shoot is being moved to another seed.
func MoveBegun(s *gardencorev1beta1.Shoot) bool {
	op := s.Status.LastOperation
	return op != nil && (op.Type == gardencorev1beta1.LastOperationTypeMigrate ||
		op.Type == gardencorev1beta1.LastOperationTypeRestore && op.State != gardencorev1beta1.LastOperationStateSucceeded)
}

// OnSeed reports whether a seed runs the control plane of a shoot, or the shoot is bound to it.
func OnSeed(s *gardencorev1beta1.Shoot, seed string) bool {
	return slices.Contains(Seeds(s), seed)
}

// Seeds returns the name of the seed that a shoot is bound to, and of the one that still runs its control plane if it is another
// one.
func Seeds(s *gardencorev1beta1.Shoot) []string {
	var names []string
	bound, running := s.Spec.SeedName, s.Status.SeedName
	if bound != nil {
		names = append(names, *bound)
	}
	if running != nil && (bound == nil || *bound != *running) {
		names = append(names, *running)
	}
	return names
}

// PoolVersion is the version of Kubernetes of the kubelets of a worker pool: its own, or else that of the shoot.
func PoolVersion(s *gardencorev1beta1.ShootSpec, pool *gardencorev1beta1.Worker) string {
	if pool.Kubernetes != nil && pool.Kubernetes.Version != nil {
		return *pool.Kubernetes.Version
	}
	return s.Kubernetes.Version
}

// Autoscaled reports whether a pool may have more machines than its minimum, so that something has to say how many (EXT-WORKER-7).
func Autoscaled(s *gardencorev1beta1.ShootSpec) bool {
	return slices.ContainsFunc(s.Provider.Workers, func(w gardencorev1beta1.Worker) bool { return w.Maximum > w.Minimum })
}
