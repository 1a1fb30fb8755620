// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// NamedBySeed lists what the fields of a seed ask for (API-EXTVAL-2).
func NamedBySeed(s *gardencorev1beta1.SeedSpec) []Need {
	path := field.NewPath("spec")
	var all needs
	all.add(path.Child("provider", "type"), s.Provider.Type, kind.ControlPlane)
	if s.Backup != nil {
		all.add(path.Child("backup", "provider"), s.Backup.Provider, kind.BackupBucket, kind.BackupEntry)
	}
	if s.Ingress != nil && s.DNS.Provider != nil {
		all.add(path.Child("dns", "provider", "type"), s.DNS.Provider.Type, kind.DNSRecord)
	}
	return append(all, listed(s.Extensions, path.Child("extensions"), gardencorev1beta1.ClusterTypeSeed, false)...)
}

// NeededBySeed lists what a seed needs for itself as long as it is not being deleted (GCM-CR-2 d).
func NeededBySeed(seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration) []Need {
	if seed.DeletionTimestamp != nil {
		return nil
	}
	path := field.NewPath("spec")
	var all needs
	if dns := seed.Spec.DNS.Provider; dns != nil {
		all.add(path.Child("dns", "provider", "type"), dns.Type, kind.DNSRecord)
	}
	all.add(path.Child("provider", "type"), seed.Spec.Provider.Type, kind.ControlPlane, kind.Infrastructure, kind.Worker)
	return append(all, enabled(
		seed.Spec.Extensions, path.Child("extensions"), cluster{sort: gardencorev1beta1.ClusterTypeSeed}, registrations,
	)...)
}

// NeededByBucket lists what a backup bucket needs (GCM-CR-2 a, API-EXTVAL-2).
func NeededByBucket(b *gardencorev1beta1.BackupBucket) []Need {
	var all needs
	all.add(field.NewPath("spec", "provider", "type"), b.Spec.Provider.Type, kind.BackupBucket)
	return all
}

// NeededByEntry lists what a backup entry needs, which depends on its bucket. It is empty if bucket is nil (GCM-CR-2 b,
// API-EXTVAL-2).
func NeededByEntry(bucket *gardencorev1beta1.BackupBucket) []Need {
	var all needs
	if bucket != nil {
		all.add(field.NewPath("spec", "bucketName"), bucket.Spec.Provider.Type, kind.BackupEntry)
	}
	return all
}

// ForBackups reports whether an offer is one for backups.
func (o Offer) ForBackups() bool { return o.Kind == kind.BackupBucket || o.Kind == kind.BackupEntry }
