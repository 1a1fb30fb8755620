// SPDX-License-Identifier: Apache-2.0

package shootmutator

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const encryptionKeyPeriod = 28 * 24 * time.Hour

// completeNetworks takes the seed's defaults for networks that the shoot leaves open (API-SMUT-3).
func completeNetworks(ctx context.Context, v world.View, s *gardencorev1beta1.Shoot) error {
	n := s.Spec.Networking
	if s.Spec.SeedName == nil || *s.Spec.SeedName == "" || n == nil || n.Services != nil && (n.Pods != nil || query.Workerless(&s.Spec)) {
		return nil
	}
	seed, err := v.Seed(ctx, *s.Spec.SeedName)
	if err != nil {
		return world.Missing(err, "spec.seedName", "Seed", *s.Spec.SeedName)
	}
	n.Pods, n.Services = query.DefaultNetworks(&s.Spec, seed)
	sixOnly := slices.Equal(n.IPFamilies, []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6})
	if n.Services == nil && sixOnly && query.Workerless(&s.Spec) {
		n.Services = new(uniqueLocal(s.Namespace + "/" + s.Name))
	}
	return nil
}

// uniqueLocal makes up a range for Services that nobody else should have. It follows from the name of the shoot, so that
// a dry run shows what the real run will do.
func uniqueLocal(name string) string {
	const (
		private = 0xfd
		length  = 112
	)
	sum := sha256.Sum256([]byte(name))
	var address [16]byte
	copy(address[1:], sum[:])
	address[0] = private
	return netip.PrefixFrom(netip.AddrFrom16(address), length).Masked().String()
}
