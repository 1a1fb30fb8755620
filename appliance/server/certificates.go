// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
	"github.com/terrarium-garden/terrarium/storage/generations"
)

// certificatesPath is the path at which certificates and keys are listed (get) and renewed (post).
const certificatesPath = "/appliance/certificates"

const maxRotationBody = 256

// certificateReport lists certificates, authorities and keys.
type certificateReport struct {
	// Renewed has the names of the certificates that the request has renewed.
	Renewed []string        `json:"renewed,omitempty"`
	Items   []identity.Item `json:"items"`
	// Encryption is the rotation of the encryption key that goes on.
	Encryption *rotation.EncryptionStatus `json:"encryption,omitempty"`
	// Authorities is the rotation of the authorities that goes on.
	Authorities *rotation.AuthorityStatus `json:"authorities,omitempty"`
	// Generation is that of the keys, and Servers are those that share them with an external datastore.
	Generation int64            `json:"generation,omitempty"`
	Servers    []sharing.Holder `json:"servers,omitempty"`
}

// certificatesPage is the mount of certificates and keys, for those whom RBAC permits.
func certificatesPage(keys *identity.Garden, now func() time.Time, rotations *rotation.Rotations, holders *sharing.Holders) gateway.Mount {
	return gateway.Mount{
		Path: certificatesPath, Who: gateway.Authorized,
		Limits: gateway.Limits{Methods: []string{http.MethodGet, http.MethodPost}, Body: maxRotationBody, Parallel: examinations},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			report := &certificateReport{}
			var err error
			if r.Method == http.MethodPost {
				report.Renewed, err = rotations.Rotate(r.Context(), r.Body)
			}
			if err == nil {
				report.Items, err = identity.Inspect(keys.Dir, now())
			}
			if err == nil {
				report.Encryption, err = rotations.Encryption.Status()
			}
			if err == nil {
				report.Authorities, err = rotations.Authorities.Status(r.Context())
			}
			report.Generation, report.Servers = holders.All()
			if conflicts(err) {
				http.Error(w, err.Error(), http.StatusConflict)

				return
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)

				return
			}
			writeJSON(w, report)
		}),
	}
}

// conflicts reports whether an error is about what goes on here or on other servers, and no failure of this one.
func conflicts(err error) bool {
	if _, ok := errors.AsType[rotation.RefusedError](err); ok {
		return true
	}
	for _, of := range []error{sharing.ErrBehind, sharing.ErrFenced, sharing.ErrStopping, generations.ErrChanged, generations.ErrDamaged, identity.ErrUnpublished} {
		if errors.Is(err, of) {
			return true
		}
	}

	return false
}
