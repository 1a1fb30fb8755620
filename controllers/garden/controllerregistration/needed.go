// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Kinds of extension objects, as registrations name them.
const (
	kindBackupBucket          = "BackupBucket"
	kindBackupEntry           = "BackupEntry"
	kindContainerRuntime      = "ContainerRuntime"
	kindControlPlane          = "ControlPlane"
	kindDNSRecord             = "DNSRecord"
	kindExtension             = "Extension"
	kindInfrastructure        = "Infrastructure"
	kindNetwork               = "Network"
	kindOperatingSystemConfig = "OperatingSystemConfig"
	kindWorker                = "Worker"
)

// Offer is a kind of extension object together with the type of it that an extension acts on.
type Offer struct {
	// Kind is the kind of the extension object.
	Kind string
	// Type is its spec.type.
	Type string
}

// Offers is a set of offers.
type Offers map[Offer]bool

func (o Offers) add(kind, typ string) {
	if typ != "" {
		o[Offer{Kind: kind, Type: typ}] = true
	}
}

// OnSeed tells whether the seed runs the control plane of the shoot, or is to run it.
func OnSeed(shoot *gardencorev1beta1.Shoot, seed string) bool {
	bound, running := shoot.Spec.SeedName, shoot.Status.SeedName
	return (bound != nil && *bound == seed) || (running != nil && *running == seed)
}

// NeededBySeed is what a live seed needs for itself (GCM-CR-2 d).
func NeededBySeed(seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration) Offers {
	needed := Offers{}
	if seed.DeletionTimestamp != nil {
		return needed
	}
	if dns := seed.Spec.DNS.Provider; dns != nil {
		needed.add(kindDNSRecord, dns.Type)
	}
	needed.add(kindControlPlane, seed.Spec.Provider.Type)
	needed.add(kindInfrastructure, seed.Spec.Provider.Type)
	needed.add(kindWorker, seed.Spec.Provider.Type)
	for _, name := range enabled(seed.Spec.Extensions, registrations, gardencorev1beta1.ClusterTypeSeed, supportsAny) {
		needed.add(kindExtension, name)
	}
	return needed
}

// NeededByShoot is what a shoot on the seed needs (GCM-CR-3). The domains are those of the garden.
func NeededByShoot(
	shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration, domains []Domain,
) Offers {
	needed := Offers{}
	if backup := seed.Spec.Backup; backup != nil {
		needed.add(kindBackupBucket, backup.Provider)
		needed.add(kindBackupEntry, backup.Provider)
	}
	needed.add(kindControlPlane, seed.Spec.Provider.Type)
	addWorkers(needed, shoot)
	addDomains(needed, shoot, seed, domains)

	supports := supportsAny
	if len(shoot.Spec.Provider.Workers) == 0 {
		supports = supportsWorkerless
	}
	for _, name := range enabled(shoot.Spec.Extensions, registrations, gardencorev1beta1.ClusterTypeShoot, supports) {
		needed.add(kindExtension, name)
	}
	return needed
}

func addWorkers(needed Offers, shoot *gardencorev1beta1.Shoot) {
	workers := shoot.Spec.Provider.Workers
	if len(workers) == 0 {
		return
	}
	needed.add(kindControlPlane, shoot.Spec.Provider.Type)
	needed.add(kindInfrastructure, shoot.Spec.Provider.Type)
	needed.add(kindWorker, shoot.Spec.Provider.Type)
	if networking := shoot.Spec.Networking; networking != nil && networking.Type != nil {
		needed.add(kindNetwork, *networking.Type)
	}
	for i := range workers {
		if image := workers[i].Machine.Image; image != nil {
			needed.add(kindOperatingSystemConfig, image.Name)
		}
		if workers[i].CRI == nil {
			continue
		}
		for _, runtime := range workers[i].CRI.ContainerRuntimes {
			needed.add(kindContainerRuntime, runtime.Type)
		}
	}
}

// addDomains adds what makes the names of a shoot. A seed that says nothing of domains goes by those of the garden.
func addDomains(needed Offers, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, domains []Domain) {
	if internal := seed.Spec.DNS.Internal; internal != nil {
		needed.add(kindDNSRecord, internal.Type)
	} else {
		for _, d := range domains {
			if d.Internal {
				needed.add(kindDNSRecord, d.Provider)
			}
		}
	}
	if shoot.Spec.DNS == nil {
		return
	}
	if primary := primaryProvider(shoot.Spec.DNS.Providers); primary != gardencorev1beta1.DNSProviderUnmanaged {
		needed.add(kindDNSRecord, primary)
	}
	if shoot.Spec.DNS.Domain == nil {
		return
	}
	for _, offered := range seed.Spec.DNS.Defaults {
		if strings.HasSuffix(*shoot.Spec.DNS.Domain, "."+offered.Domain) {
			needed.add(kindDNSRecord, offered.Type)
		}
	}
	if len(seed.Spec.DNS.Defaults) > 0 {
		return
	}
	for _, d := range domains {
		if !d.Internal && strings.HasSuffix(*shoot.Spec.DNS.Domain, "."+d.Name) {
			needed.add(kindDNSRecord, d.Provider)
		}
	}
}

func primaryProvider(providers []gardencorev1beta1.DNSProvider) string {
	for i := range providers {
		if primary := providers[i].Primary; primary != nil && *primary && providers[i].Type != nil {
			return *providers[i].Type
		}
	}
	return ""
}

// enabled lists the extensions that are listed and not disabled, or enabled for every such cluster and not disabled.
func enabled(
	listed []gardencorev1beta1.Extension, registrations []gardencorev1beta1.ControllerRegistration,
	cluster gardencorev1beta1.ClusterType, supports func(gardencorev1beta1.ControllerResource) bool,
) []string {
	disabled := map[string]bool{}
	wanted := map[string]bool{}
	for _, extension := range listed {
		off := extension.Disabled != nil && *extension.Disabled
		disabled[extension.Type] = off
		wanted[extension.Type] = !off
	}
	unsupported := map[string]bool{}
	for i := range registrations {
		for _, resource := range registrations[i].Spec.Resources {
			if resource.Kind != kindExtension {
				continue
			}
			if everywhere(resource, cluster) && !disabled[resource.Type] {
				wanted[resource.Type] = true
			}
			if !supports(resource) {
				unsupported[resource.Type] = true
			}
		}
	}
	var names []string
	for name, is := range wanted {
		if is && !unsupported[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// everywhere tells whether an extension is for every cluster of a type that does not say otherwise. The older field
// is about shoots.
func everywhere(resource gardencorev1beta1.ControllerResource, cluster gardencorev1beta1.ClusterType) bool {
	return slices.Contains(resource.AutoEnable, cluster) ||
		cluster == gardencorev1beta1.ClusterTypeShoot && resource.GloballyEnabled != nil && *resource.GloballyEnabled
}

func supportsAny(gardencorev1beta1.ControllerResource) bool { return true }

func supportsWorkerless(resource gardencorev1beta1.ControllerResource) bool {
	return resource.WorkerlessSupported != nil && *resource.WorkerlessSupported
}
