// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Shoot is what components know of the shoot that they belong to.
type Shoot struct {
	// Shoot and Seed are as they were read; neither is nil.
	Shoot *gardencorev1beta1.Shoot
	Seed  *gardencorev1beta1.Seed
	// Project is the name of the project.
	Project string
	// Namespace is the shoot's namespace in the seed.
	Namespace string
	// ClusterIdentity is unique among all clusters of all gardens.
	ClusterIdentity string
	// Hosts are the host names of the API server.
	Hosts Hosts
	// Power is how much of the shoot is to run.
	Power Power
	// Encryption is how far a change of what the API server encrypts is, or of the key.
	Encryption Encryption
	// Handed is what the owner hands in for the API server.
	Handed Handed
	// Exposure is what the load balancer of the API server is asked for.
	Exposure Exposure
	// KubeletsSigned is set once the serving certificates of all kubelets are signed by the cluster, so that they can be verified.
	KubeletsSigned bool
	// VerticalAutoscaling is set if the cluster of the seed sizes pods by their use.
	VerticalAutoscaling bool
	// DNSCacheInUse is set as long as there may be nodes that ask the DNS cache on them, although new ones do not any more.
	DNSCacheInUse bool
}

// localType is the type of provider-local.
const localType = "local"

// Encryption is how far a change of the encryption of objects is. Instances of the API server that still serve have to read what
// others write, so each step waits until all of them have taken the one before.
type Encryption struct {
	// Changing is set while the API server is led to encrypt other resources. Otherwise it goes on with those that it encrypts.
	Changing bool
	// Known is set once every instance of the API server can read what a new key encrypts, and the resources that are to be encrypted
	// either way.
	Known bool
	// Written is set once all objects of the resources are stored as the shoot wants it.
	Written bool
}

// Power is how much of a shoot is to run.
type Power int

const (
	// Awake shoots run. Every shoot in deletion is awake, because its control plane has to clean up (GLET-DEL-6).
	Awake Power = iota
	// FallingAsleep shoots still run, and are being put to sleep: components go on until nothing needs them (GLET-HIB-4).
	FallingAsleep
	// Asleep shoots do not run: they were put to sleep before, or were created so (GLET-HIB-7).
	Asleep
)

// PowerOf is how much of a shoot is to run. running says whether its API server runs now.
func PowerOf(shoot *gardencorev1beta1.Shoot, running bool) Power {
	switch {
	case shoot.DeletionTimestamp != nil || !query.HibernationWanted(shoot):
		return Awake
	case running:
		return FallingAsleep
	default:
		return Asleep
	}
}

// Instances is how many instances a component of the control plane has.
func Instances(s Shoot) int32 {
	if s.Power == Asleep {
		return 0
	}
	return 1
}

// Workers reports whether the shoot has nodes.
func (s Shoot) Workers() bool {
	return !query.Workerless(&s.Shoot.Spec)
}

// LocalMachines reports whether the machines of the shoot are pods of a cluster, on which their extension acts itself.
func (s Shoot) LocalMachines() bool {
	return s.Shoot.Spec.Provider.Type == localType
}

// Deleting reports whether the shoot is being deleted.
func (s Shoot) Deleting() bool {
	return s.Shoot.DeletionTimestamp != nil
}

// PodNetworks are the ranges of the addresses of pods.
func (s Shoot) PodNetworks() []string {
	return []string{cmp.Or(ptr.Deref(s.networking().Pods, ""), gardencorev1beta1.DefaultPodNetwork)}
}

// ServiceNetworks are the ranges of the addresses of Services.
func (s Shoot) ServiceNetworks() []string {
	return []string{cmp.Or(ptr.Deref(s.networking().Services, ""), gardencorev1beta1.DefaultServiceNetwork)}
}

// NodeNetworks are the ranges of the addresses of nodes: that of the spec, and those that the provider has chosen. There are none before it
// has answered for the first time.
func (s Shoot) NodeNetworks() []string {
	var all []string
	if nodes := s.networking().Nodes; nodes != nil {
		all = append(all, *nodes)
	}
	if found := s.Shoot.Status.Networking; found != nil {
		for _, nodes := range found.Nodes {
			if !slices.Contains(all, nodes) {
				all = append(all, nodes)
			}
		}
	}
	return all
}

func (s Shoot) networking() *gardencorev1beta1.Networking {
	return cmp.Or(s.Shoot.Spec.Networking, &gardencorev1beta1.Networking{})
}
