// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"runtime"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/gateway/ui"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// status describes the server to its operator. What is not known is left out.
type status struct {
	Started      time.Time           `json:"started"`
	Now          time.Time           `json:"now"`
	Version      string              `json:"version"`
	Directory    identity.Use        `json:"directory"`
	Process      processStatus       `json:"process"`
	Machine      machineStatus       `json:"machine"`
	Store        storeStatus         `json:"store"`
	Certificates []certificateStatus `json:"certificates"`
	Units        []unitStatus        `json:"units"`
	Snapshots    *snapshotStatus     `json:"snapshots,omitempty"`
	Controllers  []controllerStatus  `json:"controllers,omitempty"`
	Seeds        *seedsStatus        `json:"seeds,omitempty"`
	Shoots       *shootsStatus       `json:"shoots,omitempty"`
	Findings     *doctor.Count       `json:"findings,omitempty"`
}

type machineStatus struct {
	CPUs int `json:"cpus"`
}

// storeStatus has the sizes of the files. It has no databases if the datastore is somewhere else.
type storeStatus struct {
	// External says what and where the datastore is, if it is not on this machine, and Problem why it does not answer.
	External string `json:"external,omitempty"`
	Problem  string `json:"problem,omitempty"`

	SizeBytes int64            `json:"sizeBytes"`
	WALBytes  int64            `json:"walBytes"`
	Databases []databaseStatus `json:"databases,omitempty"`
}

type databaseStatus struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"sizeBytes"`
	WALBytes  int64  `json:"walBytes"`
	// Revision is the newest revision, Compacted the one up to which past states are no longer kept.
	Revision  int64 `json:"revision"`
	Compacted int64 `json:"compacted"`
	// LastCompaction is when Compacted became what it is.
	LastCompaction *time.Time `json:"lastCompaction,omitempty"`
}

type certificateStatus struct {
	Name     string    `json:"name"`
	NotAfter time.Time `json:"notAfter"`
	DaysLeft int       `json:"daysLeft"`
}

type unitStatus struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
}

// statusPage is the mount of the status, for those whom RBAC permits.
func (e *examiner) statusPage() gateway.Mount {
	return gateway.Mount{Path: ui.StatusPath, Who: gateway.Authorized, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is, counted := e.status(), e.digest(r.Context())
		is.Seeds, is.Shoots, is.Findings = counted.seeds, counted.shoots, counted.findings
		writeJSON(w, is)
	})}
}

func (e *examiner) status() status {
	now := e.clock.Now()
	is := status{
		Started: e.started.UTC(), Now: now.UTC(), Version: e.version,
		Directory: e.use, Process: process(e.memoryLimit), Machine: machineStatus{CPUs: runtime.NumCPU()},
		Certificates: certificates(e.keys, now), Controllers: controllers(),
		Snapshots: snapshots(e.snapshots),
	}
	if e.stores.External != nil {
		d := doctor.Datastore{}
		e.health.describeDatastore(&d)
		is.Store.External, is.Store.Problem = e.stores.External.String(), d.Away
	}
	for _, db := range e.stores.Files() {
		is.Store.SizeBytes += db.SizeBytes
		is.Store.WALBytes += db.WALBytes
		of := databaseStatus{Name: db.Name, SizeBytes: db.SizeBytes, WALBytes: db.WALBytes, Revision: db.Revision, Compacted: db.Compacted}
		if !db.CompactedAt.IsZero() {
			of.LastCompaction = new(db.CompactedAt.UTC())
		}
		is.Store.Databases = append(is.Store.Databases, of)
	}
	for _, u := range e.readiness.units {
		is.Units = append(is.Units, unitStatus{Name: u.name, Ready: u.ready.Load()})
	}

	return is
}

func certificates(keys *identity.Garden, now time.Time) []certificateStatus {
	var all []certificateStatus
	for _, c := range keys.Certificates.List() {
		all = append(all, certificateStatus{Name: c.Name, NotAfter: c.NotAfter.UTC(), DaysLeft: int(c.NotAfter.Sub(now) / (24 * time.Hour))})
	}

	return all
}
