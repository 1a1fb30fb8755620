// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// rotations are those of a garden with the given keys. The keeper saves it; nil if it takes no snapshots.
func (s *server) rotations(at addresses, keys *identity.Garden, saved *backup.Keeper) *rotation.Rotations {
	usual := apiserver.NewConfig()

	return rotation.New(rotation.Config{
		Clock: s.Clock, Log: s.Log, Keys: keys, Local: at.local, Snapshots: saved,
		API: s.api.Load, Live: s.live.Load, Revoked: s.revokedSeeds, Signals: s.signals,
		LongestToken:         longestToken(s.Config, usual.MaxServiceAccountTokenLifetime),
		LongestIdentityToken: workloadIdentity(usual.WorkloadIdentity, &s.Config.WorkloadIdentity, "").MaxTokenLifetime,
	})
}

// longestToken is the longest validity of a token of a service account that is requested.
func longestToken(c *gardenconfigv1alpha1.ServerConfiguration, usual time.Duration) time.Duration {
	if longest := c.Tokens.MaxServiceAccountTokenLifetime; longest != nil {
		return longest.Duration
	}

	return usual
}

// revokedSeeds are the names of the seeds that are shut out.
func (s *server) revokedSeeds() []string {
	shut := s.revoked.Load()
	if shut == nil {
		return nil
	}
	var names []string
	for _, r := range shut.List() {
		names = append(names, r.Seed)
	}

	return names
}
