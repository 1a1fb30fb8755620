// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
)

// leadership has one of the servers that share an external datastore lead.
func (s *server) leadership(d door, keys *identity.Garden) *sharing.Leadership {
	return &sharing.Leadership{
		Clock: s.Clock, Log: s.Log, Program: s.program(), Keys: keys, Listener: d.listener, Local: d.addresses.local,
		AdvertiseAddress: s.Config.Datastore.AdvertiseAddress, Holders: &s.holders, TakenUp: s.keysTakenUp, Standby: s.Standby, Stopping: s.stopping,
	}
}

// keysTakenUp has the garden, if it runs here already, use keys that another server has published.
func (s *server) keysTakenUp() {
	api := s.api.Load()
	if api == nil {
		return
	}
	api.TokenKeysChanged()
	s.signals.TakenUp()
}
