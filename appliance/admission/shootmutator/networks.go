// SPDX-License-Identifier: Apache-2.0

package shootmutator

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const encryptionKeyPeriod = 28 * 24 * time.Hour

// completeNetworks sets networks that the shoot does not have to the defaults of the seed (API-SMUT-3).
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
	if n.Services == nil && query.OnlyIPv6(n) && query.Workerless(&s.Spec) {
		n.Services = new(uniqueLocal(s.Namespace + "/" + s.Name))
	}
	return nil
}

// uniqueLocal generates a range for Services that other shoots are unlikely to have. It is derived from the name of the
// shoot, so that a dry run gives the same result as the real request.
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
