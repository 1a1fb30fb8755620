// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Binding names the object by which a shoot gets at its credentials.
type Binding struct{ Kind, Name string }

// The kinds of bindings.
const (
	KindSecretBinding      = "SecretBinding"
	KindCredentialsBinding = "CredentialsBinding"
)

// BindingOf is the binding of a shoot, whichever of its two fields carries the name. It is empty when the shoot names
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

// CredentialsOf is the Secret of a SecretBinding in the form in which a CredentialsBinding refers to its credentials.
func CredentialsOf(b *gardencorev1beta1.SecretBinding) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: b.SecretRef.Namespace, Name: b.SecretRef.Name,
	}
}

// Phases are how far the rotations of a shoot's credentials are; a phase is empty when there was no rotation yet.
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

// EncryptionWanted lists the resources, beside secrets, that a shoot wants encrypted: in one form of writing, sorted.
func EncryptionWanted(s *gardencorev1beta1.ShootSpec) []string {
	if a := s.Kubernetes.KubeAPIServer; a != nil && a.EncryptionConfig != nil {
		return encryptable(a.EncryptionConfig.Resources)
	}
	return nil
}

// EncryptionPending tells whether a change of the encrypted resources is still to be rolled out: what the status
// reports is not what the spec wants. A shoot that reports nothing has nothing to wait for.
func EncryptionPending(s *gardencorev1beta1.Shoot) bool {
	reported := s.Status.EncryptedResources
	if c := s.Status.Credentials; c != nil && c.EncryptionAtRest != nil {
		reported = c.EncryptionAtRest.Resources
	} else if len(reported) == 0 {
		return false
	}
	return !slices.Equal(encryptable(reported), EncryptionWanted(&s.Spec))
}

// encryptable drops what is always encrypted and the dot that may end a resource of the core group.
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
