// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Kind is a kind of object.
type Kind uint8

// The kinds that can be in the graph.
const (
	BackupBucket Kind = iota + 1
	BackupEntry
	Bastion
	CertificateSigningRequest
	CloudProfile
	ClusterRoleBinding
	ConfigMap
	ControllerDeployment
	ControllerInstallation
	ControllerRegistration
	CredentialsBinding
	ExposureClass
	Gardenlet
	InternalSecret
	// JoinToken is a token with which a seed has joined. It is not a kind of the API: it represents the Secret of the token,
	// which the gardenlet may only delete.
	JoinToken
	Lease
	ManagedSeed
	Namespace
	NamespacedCloudProfile
	Project
	Secret
	SecretBinding
	Seed
	ServiceAccount
	Shoot
	ShootState
	WorkloadIdentity

	kinds
)

// String implements fmt.Stringer.
func (k Kind) String() string {
	names := [kinds]string{
		BackupBucket: "BackupBucket", BackupEntry: "BackupEntry", Bastion: "Bastion",
		CertificateSigningRequest: "CertificateSigningRequest", CloudProfile: "CloudProfile",
		ClusterRoleBinding: "ClusterRoleBinding", ConfigMap: "ConfigMap", ControllerDeployment: "ControllerDeployment",
		ControllerInstallation: "ControllerInstallation", ControllerRegistration: "ControllerRegistration",
		CredentialsBinding: "CredentialsBinding", ExposureClass: "ExposureClass", Gardenlet: "Gardenlet",
		InternalSecret: "InternalSecret", JoinToken: "JoinToken", Lease: "Lease", ManagedSeed: "ManagedSeed",
		Namespace: "Namespace", NamespacedCloudProfile: "NamespacedCloudProfile", Project: "Project", Secret: "Secret",
		SecretBinding: "SecretBinding", Seed: "Seed", ServiceAccount: "ServiceAccount", Shoot: "Shoot",
		ShootState: "ShootState", WorkloadIdentity: "WorkloadIdentity",
	}
	if k == 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}

	return names[k] //nolint:gosec // Checked right above.
}

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, 0, kinds)
	for k := Kind(1); k < kinds; k++ {
		all = append(all, k)
	}

	return all
}

// Namespaced reports whether a kind is namespaced.
func (k Kind) Namespaced() bool {
	switch k {
	case BackupEntry, Bastion, ConfigMap, CredentialsBinding, Gardenlet, InternalSecret, Lease, ManagedSeed,
		NamespacedCloudProfile, Secret, SecretBinding, ServiceAccount, Shoot, ShootState, WorkloadIdentity:
		return true
	default:
		return false
	}
}

// Vertex is an object. It does not have to exist: references to a Secret are recorded before the Secret exists.
type Vertex struct {
	Kind            Kind
	Namespace, Name string
}

// String implements fmt.Stringer.
func (v Vertex) String() string {
	if v.Namespace == "" {
		return v.Kind.String() + " " + v.Name
	}

	return v.Kind.String() + " " + v.Namespace + "/" + v.Name
}

// Edge says that From belongs to To, so that clients that may access To may access From.
type Edge struct{ From, To Vertex }

// namespaceSeedPrefix is the prefix of the name of a seed's namespace.
const namespaceSeedPrefix = "seed-"

// tied returns the object that another one belongs to by its name alone. There are a dozen of these for each shoot, so they
// are derived in each search and not stored (GAC-GR-1).
func tied(v Vertex) (Vertex, bool) {
	switch v.Kind {
	case Secret, ConfigMap, InternalSecret:
		if shoot, ok := shootOf(v.Kind, v.Name); ok {
			return Vertex{Kind: Shoot, Namespace: v.Namespace, Name: shoot}, true
		}
		if bucket, ok := BucketOf(v); ok {
			return Vertex{Kind: BackupBucket, Name: bucket}, true
		}
	case ShootState:
		return Vertex{Kind: Shoot, Namespace: v.Namespace, Name: v.Name}, true
	case Namespace:
		if seed, ok := strings.CutPrefix(v.Name, namespaceSeedPrefix); ok {
			return Vertex{Kind: Seed, Name: seed}, true
		}
	case Gardenlet:
		if v.Namespace == gardencorev1beta1.NamespaceGarden {
			return Vertex{Kind: Seed, Name: v.Name}, true
		}
	case Lease:
		if v.Namespace == gardencorev1beta1.NamespaceSeedLease {
			return Vertex{Kind: Seed, Name: v.Name}, true
		}
	default:
	}

	return Vertex{}, false
}

// ShootOf returns the name of the shoot that an object in a project belongs to by its name, such as the Secret
// "sprout.ssh-keypair".
func ShootOf(v Vertex) (shoot string, ok bool) { return shootOf(v.Kind, v.Name) }

func shootOf(kind Kind, name string) (string, bool) {
	shoot, suffix, ok := strings.Cut(name, ".")
	if !ok || shoot == "" {
		return "", false
	}
	switch kind {
	case Secret:
		switch suffix {
		case gardencorev1beta1.ProjectSecretSuffixCACluster,
			gardencorev1beta1.ProjectSecretSuffixSSHKeypair,
			gardencorev1beta1.ProjectSecretSuffixOldSSHKeypair,
			gardencorev1beta1.ProjectSecretSuffixMonitoring:
			return shoot, true
		}
	case ConfigMap:
		switch suffix {
		case gardencorev1beta1.ProjectSecretSuffixCACluster, gardencorev1beta1.ProjectSecretSuffixCAKubelet:
			return shoot, true
		}
	case InternalSecret:
		return shoot, suffix == gardencorev1beta1.ProjectSecretSuffixCAClient
	default:
	}

	return "", false
}

// BucketOf returns the name of the BackupBucket that a Secret with generated credentials belongs to by its name.
func BucketOf(v Vertex) (bucket string, ok bool) {
	bucket, ok = strings.CutPrefix(v.Name, gardencorev1beta1.SecretPrefixGeneratedBucket)

	return bucket, ok && bucket != "" && v.Kind == Secret && v.Namespace == gardencorev1beta1.NamespaceGarden
}
