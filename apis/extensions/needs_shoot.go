// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// Domain is a domain of the garden: a default domain or the internal domain.
type Domain struct {
	// Name is the domain, Provider the type of the DNS service that hosts it.
	Name, Provider string
	// Internal marks the internal domain.
	Internal bool
}

// Surroundings are the objects that the needs of a shoot depend on besides the shoot itself.
type Surroundings struct {
	// Seed is where the control plane runs.
	Seed *gardencorev1beta1.Seed
	// Registrations are all registrations of the garden.
	Registrations []gardencorev1beta1.ControllerRegistration
	// Domains are the domains of the garden. They are ignored for a seed with its own domains.
	Domains []Domain
}

// NamedByShoot lists what the fields of a shoot ask for, in the order of the fields. On its seed a shoot can need more or
// less, see NeededByShoot (API-EXTVAL-3).
func NamedByShoot(s *gardencorev1beta1.ShootSpec) []Need {
	path := field.NewPath("spec")
	all := listed(s.Extensions, path.Child("extensions"), gardencorev1beta1.ClusterTypeShoot, query.Workerless(s))
	if s.DNS != nil {
		for i := range s.DNS.Providers {
			if query.Manages(&s.DNS.Providers[i]) {
				all.add(path.Child("dns", "providers").Index(i).Child("type"), *s.DNS.Providers[i].Type, kind.DNSRecord)
			}
		}
	}
	return append(all, ofWorkers(s, path)...)
}

// NeededByShoot lists what a shoot needs on its seed: only the primary one of its DNS providers, and the extensions that are
// enabled for it (GCM-CR-3).
func NeededByShoot(shoot *gardencorev1beta1.Shoot, in Surroundings) []Need {
	seed, ofSeed, path := in.Seed, field.NewPath("seed", "spec"), field.NewPath("spec")
	var all needs
	if backup := seed.Spec.Backup; backup != nil {
		all.add(ofSeed.Child("backup", "provider"), backup.Provider, kind.BackupBucket, kind.BackupEntry)
	}
	all.add(ofSeed.Child("provider", "type"), seed.Spec.Provider.Type, kind.ControlPlane)
	all = append(all, ofWorkers(&shoot.Spec, path)...)
	all.names(shoot, in)
	return append(all, enabled(shoot.Spec.Extensions, path.Child("extensions"), cluster{
		sort: gardencorev1beta1.ClusterTypeShoot, workerless: query.Workerless(&shoot.Spec),
	}, in.Registrations)...)
}

// NeededBySelfHosted lists what a shoot needs that runs its control plane on its own machines. It has no seed, so it keeps its backups itself, may
// have an extension expose its API server, and has no name in a domain of the garden (GCM-CR-10).
func NeededBySelfHosted(shoot *gardencorev1beta1.Shoot, registrations []gardencorev1beta1.ControllerRegistration) []Need {
	path := field.NewPath("spec")
	all := ofControlPlane(&shoot.Spec, path)
	all = append(all, ofWorkers(&shoot.Spec, path)...)
	all.primary(shoot.Spec.DNS)
	return append(all, enabled(
		shoot.Spec.Extensions, path.Child("extensions"), cluster{sort: gardencorev1beta1.ClusterTypeShoot}, registrations,
	)...)
}

// ofControlPlane returns what the pool needs that runs the control plane.
func ofControlPlane(s *gardencorev1beta1.ShootSpec, path *field.Path) needs {
	var all needs
	for i := range s.Provider.Workers {
		controlPlane, here := s.Provider.Workers[i].ControlPlane, path.Child("provider", "workers").Index(i).Child("controlPlane")
		if controlPlane == nil {
			continue
		}
		if backup := controlPlane.Backup; backup != nil {
			all.add(here.Child("backup", "provider"), backup.Provider, kind.BackupBucket, kind.BackupEntry)
		}
		if exposure := controlPlane.Exposure; exposure != nil && exposure.Extension != nil && exposure.Extension.Type != nil {
			all.add(here.Child("exposure", "extension", "type"), *exposure.Extension.Type, kind.SelfHostedShootExposure)
		}
	}
	return all
}

// ofWorkers returns what the worker pools of a shoot need.
func ofWorkers(s *gardencorev1beta1.ShootSpec, path *field.Path) needs {
	var all needs
	if query.Workerless(s) {
		return all
	}
	all.add(path.Child("provider", "type"), s.Provider.Type, kind.ControlPlane, kind.Infrastructure, kind.Worker)
	if s.Networking != nil && s.Networking.Type != nil {
		all.add(path.Child("networking", "type"), *s.Networking.Type, kind.Network)
	}
	for i := range s.Provider.Workers {
		pool, here := &s.Provider.Workers[i], path.Child("provider", "workers").Index(i)
		if pool.Machine.Image != nil {
			all.add(here.Child("machine", "image", "name"), pool.Machine.Image.Name, kind.OperatingSystemConfig)
		}
		if pool.CRI == nil {
			continue
		}
		for j, runtime := range pool.CRI.ContainerRuntimes {
			all.add(here.Child("cri", "containerRuntimes").Index(j).Child("type"), runtime.Type, kind.ContainerRuntime)
		}
	}
	return all
}

// names adds what is needed for the DNS names of a shoot. A seed without its own domains uses those of the garden.
func (n *needs) names(shoot *gardencorev1beta1.Shoot, in Surroundings) {
	ofSeed := field.NewPath("seed", "spec", "dns")
	if internal := in.Seed.Spec.DNS.Internal; internal != nil {
		n.add(ofSeed.Child("internal", "type"), internal.Type, kind.DNSRecord)
	} else {
		for _, d := range in.Domains {
			if d.Internal {
				n.add(nil, d.Provider, kind.DNSRecord)
			}
		}
	}
	n.primary(shoot.Spec.DNS)
	domain, defaults := query.Domain(shoot.Spec.DNS), in.Seed.Spec.DNS.Defaults
	for i, offered := range defaults {
		if query.Below(domain, offered.Domain) {
			n.add(ofSeed.Child("defaults").Index(i).Child("type"), offered.Type, kind.DNSRecord)
		}
	}
	if len(defaults) > 0 {
		return
	}
	for _, d := range in.Domains {
		if !d.Internal && query.Below(domain, d.Name) {
			n.add(nil, d.Provider, kind.DNSRecord)
		}
	}
}

// primary adds what is needed for the primary DNS provider of a shoot.
func (n *needs) primary(dns *gardencorev1beta1.DNS) {
	if i := query.PrimaryIndex(dns); i >= 0 && query.Manages(&dns.Providers[i]) {
		n.add(field.NewPath("spec", "dns", "providers").Index(i).Child("type"), *dns.Providers[i].Type, kind.DNSRecord)
	}
}
