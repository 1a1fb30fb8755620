// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// ground has the values of the units before the API server.
type ground struct {
	door   door
	keys   *identity.Garden
	stores *kine.Stores
	// timeline keeps what happens.
	timeline *timeline.Store
	// snapshots saves the garden; nil if it takes no snapshots.
	snapshots *backup.Keeper
	// audit records who does what; nil if it is turned off.
	audit *auditlog.Log
}

// parts are what is made of these values, for the API server and later units.
type parts struct {
	ground

	rotations *rotation.Rotations
	health    *storeHealth
	examiner  *examiner
	// bounds, maintenance and spec are what the Garden says.
	bounds      *gardenBounds
	maintenance *maintenance
	spec        *gardenSpec
}

func (s *server) parts(on ground) *parts {
	p := &parts{
		ground:      on,
		rotations:   s.rotations(on.door.addresses, on.keys, on.snapshots),
		bounds:      newGardenBounds(&s.Config.Shoots),
		maintenance: &maintenance{clock: s.Clock},
	}
	p.health = &storeHealth{clock: s.Clock, log: s.Log, stores: on.stores, awaitWindow: p.maintenance.await}
	p.examiner = &examiner{
		clock: s.Clock, version: s.Version, memoryLimit: s.MemoryLimit, started: s.started, use: s.use,
		keys: on.keys, stores: on.stores, health: p.health, holders: &s.holders, rotations: p.rotations, readiness: &s.readiness,
		snapshots: on.snapshots, snapshotConfig: &s.Config.Snapshots, reader: s.reader.Load, revoked: s.revokedSeeds,
	}
	p.spec = &gardenSpec{
		config: s.Config, clock: s.Clock, log: s.Log, logs: s.Logs, keys: on.keys, local: on.door.addresses.local,
		external: on.stores.External != nil, name: s.gardenName, bounds: p.bounds, maintenance: p.maintenance,
	}

	return p
}
