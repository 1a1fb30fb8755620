// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
)

// offerSet is a set of offers.
type offerSet map[extensions.Offer]bool

func (s offerSet) add(needs []extensions.Need) {
	for _, n := range needs {
		s[n.Offer] = true
	}
}

// needed is everything that the seed, its backups and its shoots need (GCM-CR-2), with the number of shoots on the seed.
func needed(in Input) (offerSet, int) {
	all := offerSet{}
	all.add(extensions.NeededBySeed(in.Seed, in.Registrations))
	all.add(neededByBackups(in.Seed.Name, in.Buckets, in.Entries))
	shoots := 0
	for i := range in.Shoots {
		if query.OnSeed(&in.Shoots[i], in.Seed.Name) {
			shoots++
			all.add(extensions.NeededByShoot(&in.Shoots[i], extensions.Surroundings{
				Seed: in.Seed, Registrations: in.Registrations, Domains: in.Domains,
			}))
		}
	}
	return all, shoots
}

// neededByBackups is what the buckets and entries of a seed need (GCM-CR-2 a and b).
func neededByBackups(seed string, buckets []gardencorev1beta1.BackupBucket, entries []gardencorev1beta1.BackupEntry) []extensions.Need {
	var all []extensions.Need
	named := map[string]*gardencorev1beta1.BackupBucket{}
	for i := range buckets {
		named[buckets[i].Name] = &buckets[i]
		if is(buckets[i].Spec.SeedName, seed) {
			all = append(all, extensions.NeededByBucket(&buckets[i])...)
		}
	}
	for i := range entries {
		if is(entries[i].Spec.SeedName, seed) || is(entries[i].Status.SeedName, seed) {
			all = append(all, extensions.NeededByEntry(named[entries[i].Spec.BucketName])...)
		}
	}
	return all
}

func is(name *string, seed string) bool { return name != nil && *name == seed }
