// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Binding names the object that binds a shoot to its credentials.
type Binding struct{ Kind, Name string }

// The kinds of bindings.
const (
	KindSecretBinding      = "SecretBinding"
	KindCredentialsBinding = "CredentialsBinding"
)

// BindingOf returns the binding of a shoot from the one of its two fields that is set. It is empty when the shoot names
// none.
func BindingOf(s *gardencorev1beta1.ShootSpec) Binding {
	switch {
	case s.CredentialsBindingName != nil:
		return Binding{Kind: KindCredentialsBinding, Name: *s.CredentialsBindingName}
	case s.SecretBindingName != nil:
		return Binding{Kind: KindSecretBinding, Name: *s.SecretBindingName}
	default:
		return Binding{}
	}
}

// CredentialsOf returns the Secret of a SecretBinding in the form in which a CredentialsBinding refers to its credentials.
func CredentialsOf(b *gardencorev1beta1.SecretBinding) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: b.SecretRef.Namespace, Name: b.SecretRef.Name,
	}
}

// Phases are the phases of the rotations of a shoot's credentials; a phase is empty if there was no rotation yet.
type Phases struct {
	CertificateAuthorities, ServiceAccountKey, ETCDEncryptionKey gardencorev1beta1.CredentialsRotationPhase
}

// RotationPhases reads the phases from the status of a shoot.
func RotationPhases(s *gardencorev1beta1.Shoot) Phases {
	var p Phases
	if s.Status.Credentials == nil || s.Status.Credentials.Rotation == nil {
		return p
	}
	rotation := s.Status.Credentials.Rotation
	if r := rotation.CertificateAuthorities; r != nil {
		p.CertificateAuthorities = r.Phase
	}
	if r := rotation.ServiceAccountKey; r != nil {
		p.ServiceAccountKey = r.Phase
	}
	if r := rotation.ETCDEncryptionKey; r != nil {
		p.ETCDEncryptionKey = r.Phase
	}
	return p
}

// EncryptionWanted lists the resources besides secrets that a shoot asks to encrypt, normalized and sorted.
func EncryptionWanted(s *gardencorev1beta1.ShootSpec) []string {
	return EncryptionAtRest(s).Resources
}

// EncryptionAtRest returns what a shoot asks to encrypt and how, in the form in which its status reports it.
func EncryptionAtRest(s *gardencorev1beta1.ShootSpec) gardencorev1beta1.EncryptionAtRest {
	var wanted gardencorev1beta1.EncryptionAtRest
	if a := s.Kubernetes.KubeAPIServer; a != nil && a.EncryptionConfig != nil {
		wanted.Resources = a.EncryptionConfig.Resources
		if t := a.EncryptionConfig.Provider.Type; t != nil {
			wanted.Provider.Type = *t
		}
	}
	return PlainEncryption(wanted)
}

// PlainEncryption normalizes what is encrypted: the resources are sorted and do not contain secrets, which are always
// encrypted, and the provider is set to the default if it is not given.
func PlainEncryption(e gardencorev1beta1.EncryptionAtRest) gardencorev1beta1.EncryptionAtRest {
	e.Resources = encryptable(e.Resources)
	if e.Provider.Type == "" {
		e.Provider.Type = gardencorev1beta1.EncryptionProviderTypeAescbc
	}
	return e
}

// EncryptionDiffers reports whether a shoot asks for other resources or another provider than its status reports. It is
// false for a status that reports nothing.
func EncryptionDiffers(spec *gardencorev1beta1.ShootSpec, status *gardencorev1beta1.ShootStatus) bool {
	if status.Credentials == nil || status.Credentials.EncryptionAtRest == nil {
		return false
	}
	wanted, reported := EncryptionAtRest(spec), PlainEncryption(*status.Credentials.EncryptionAtRest)
	return wanted.Provider != reported.Provider || EncryptedResourcesDiffer(spec, status)
}

// EncryptedResourcesDiffer reports whether a shoot asks for other resources than its status reports, with whatever
// provider. It is false for a status that reports nothing.
func EncryptedResourcesDiffer(spec *gardencorev1beta1.ShootSpec, status *gardencorev1beta1.ShootStatus) bool {
	return status.Credentials != nil && status.Credentials.EncryptionAtRest != nil &&
		!slices.Equal(EncryptionWanted(spec), PlainEncryption(*status.Credentials.EncryptionAtRest).Resources)
}

// EncryptionPending reports whether a change of the encryption is still to be rolled out, which is when the status differs
// from the spec. It is false for a shoot that reports nothing, and for one that its gardenlet refuses to act upon: that
// change is not rolled out, and its owner has to revert it.
func EncryptionPending(s *gardencorev1beta1.Shoot) bool {
	if Refused(s) {
		return false
	}
	if c := s.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		return EncryptionDiffers(&s.Spec, &s.Status)
	}
	reported := s.Status.EncryptedResources
	return len(reported) > 0 && !slices.Equal(encryptable(reported), EncryptionWanted(&s.Spec))
}

const (
	// TaskUnserved is the id of the error by which a gardenlet refuses to begin an operation on a shoot.
	TaskUnserved = "unserved"
	// TaskEncryptionCheck is the id of the task in which a gardenlet refuses to encrypt what the cluster does not serve.
	TaskEncryptionCheck = "encryption-check"
)

// Refused reports whether the gardenlet has refused to act upon the current generation of a shoot, or to change what is
// encrypted in it. Only its owner can mend that, other than a check that did not get an answer.
func Refused(s *gardencorev1beta1.Shoot) bool {
	last := s.Status.LastOperation
	return last != nil && last.State == gardencorev1beta1.LastOperationStateFailed && s.Status.ObservedGeneration == s.Generation &&
		slices.ContainsFunc(s.Status.LastErrors, func(e gardencorev1beta1.LastError) bool {
			return e.TaskID != nil && (*e.TaskID == TaskUnserved ||
				*e.TaskID == TaskEncryptionCheck && slices.Contains(e.Codes, gardencorev1beta1.ErrorCodeConfigurationProblem))
		})
}

// encryptable drops secrets, which are always encrypted, and the trailing dot that a resource of the core group may have.
func encryptable(resources []string) []string {
	var all []string
	for _, r := range resources {
		if r = strings.TrimSuffix(r, "."); r != "secrets" {
			all = append(all, r)
		}
	}
	slices.Sort(all)
	return all
}
