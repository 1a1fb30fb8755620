// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// NeededByBackups is what the buckets and entries of a seed need (GCM-CR-2 a and b). An entry whose bucket does not exist
// needs nothing.
func NeededByBackups(seed string, buckets []gardencorev1beta1.BackupBucket, entries []gardencorev1beta1.BackupEntry) Offers {
	needed, providers := Offers{}, map[string]string{}
	for i := range buckets {
		providers[buckets[i].Name] = buckets[i].Spec.Provider.Type
		if is(buckets[i].Spec.SeedName, seed) {
			needed.add(kindBackupBucket, buckets[i].Spec.Provider.Type)
		}
	}
	for i := range entries {
		if is(entries[i].Spec.SeedName, seed) || is(entries[i].Status.SeedName, seed) {
			needed.add(kindBackupEntry, providers[entries[i].Spec.BucketName])
		}
	}
	return needed
}

func is(name *string, seed string) bool { return name != nil && *name == seed }

// ofBackups tells whether an offer is about backups. A seed whose backups nobody offers to make is without them, and its
// condition BackupBucketsReady says so; its shoots and all other extensions do not have to wait for that.
func ofBackups(offer Offer) bool {
	return offer.Kind == kindBackupBucket || offer.Kind == kindBackupEntry
}
