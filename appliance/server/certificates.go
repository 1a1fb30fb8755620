// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/generations"
)

// certificatesPath is the path at which certificates and keys are listed (get) and renewed (post).
const certificatesPath = "/appliance/certificates"

const maxRotationBody = 256

// A clock that is set moves no timers, so the certificates are looked at from time to time; and not too often if one is due that
// cannot be renewed.
const (
	certificatesPause    = time.Hour
	certificatesPatience = time.Minute
)

// certificateReport lists certificates, authorities and keys.
type certificateReport struct {
	// Renewed has the names of the certificates that the request has renewed.
	Renewed []string        `json:"renewed,omitempty"`
	Items   []identity.Item `json:"items"`
	// Encryption is the rotation of the encryption key that goes on.
	Encryption *encryptionStatus `json:"encryption,omitempty"`
	// Authorities is the rotation of the authorities that goes on.
	Authorities *authorityStatus `json:"authorities,omitempty"`
	// Generation is that of the keys, and Servers are those that share them with an external datastore.
	Generation int64       `json:"generation,omitempty"`
	Servers    []keyHolder `json:"servers,omitempty"`
}

// rotation is what a client wants to be renewed, and how.
type rotation struct {
	Rotate string `json:"rotate"`
	// Phase is a phase of a rotation that takes time.
	Phase string `json:"phase,omitempty"`
	// Force completes a rotation although something may still depend on what is then refused.
	Force bool `json:"force,omitempty"`
}

// What can be renewed, and the phases.
const (
	rotateCertificates = "certificates"
	rotateTokenKey     = "serviceAccountKey"
	rotateEncryption   = "encryptionKey"
	rotateAuthorities  = "authorities"
	rotateWorkloadKey  = "workloadIdentityKey"
	// rotateMonitoring is the password with which seeds are monitored.
	rotateMonitoring = "observabilityCredentials"
	// rotateCredentials is all of them but the certificates.
	rotateCredentials = "credentials"

	phaseStart    = "start"
	phaseComplete = "complete"
)

// runCertificates renews the certificates of the garden when they are due, and does what rotations leave to do.
func (s *server) runCertificates(ctx context.Context, at addresses, keys *identity.Garden, saved *backup.Keeper, ready func()) error {
	ready()
	for {
		pause := min(keys.Certificates.RenewalDue().Sub(s.Clock.Now()), certificatesPause)
		timer := s.Clock.NewTimer(max(pause, certificatesPatience))
		select {
		case <-ctx.Done():
			timer.Stop()

			return nil
		case <-timer.C():
		case <-s.rotated:
			timer.Stop()
			s.saveKeys(ctx, saved)
		}
		if _, err := s.renewCertificates(at, keys, false); err != nil {
			s.Log.Error(err, "Certificates not renewed; trying again", "after", certificatesPatience)
		}
	}
}

// keysChanged wakes runCertificates up, and has the Garden tell it.
func (s *server) keysChanged() {
	s.tellGarden()
	select {
	case s.rotated <- struct{}{}:
	default:
	}
}

// saveKeys takes a snapshot: what is written between snapshots has no keys.
func (s *server) saveKeys(ctx context.Context, saved *backup.Keeper) {
	if saved == nil {
		return
	}
	if _, err := saved.Take(ctx); err != nil && ctx.Err() == nil {
		s.Log.Error(err, "Snapshot with the new keys failed; the next one has them")
	}
}

// renewCertificates renews certificates and the kubeconfig with one of them. The API server takes up the new files.
func (s *server) renewCertificates(at addresses, keys *identity.Garden, all bool) ([]string, error) {
	renewed, err := keys.Certificates.Renew(s.Clock.Now(), all)
	if len(renewed) > 0 {
		s.Log.Info("Certificates renewed", "certificates", renewed)
		err = errors.Join(err, keys.Certificates.WriteAdminKubeconfig(at.local))
	}
	if err != nil {
		return renewed, fmt.Errorf("renew certificates: %w", err)
	}

	return renewed, nil
}

func (s *server) certificatesPage(on ground) gateway.Mount {
	return gateway.Mount{
		Path: certificatesPath, Who: gateway.Authorized,
		Limits: gateway.Limits{Methods: []string{http.MethodGet, http.MethodPost}, Body: maxRotationBody, Parallel: examinations},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			report := &certificateReport{}
			var err error
			if r.Method == http.MethodPost {
				report.Renewed, err = s.rotate(r, on)
			}
			if err == nil {
				report.Items, err = identity.Inspect(on.keys.Dir, s.Clock.Now())
			}
			if err == nil {
				report.Encryption, err = s.encryptionStatus(on.keys)
			}
			if err == nil {
				report.Authorities, err = s.authorityStatus(r.Context(), on.keys)
			}
			report.Generation, report.Servers = s.keyHolders()
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
	if _, ok := errors.AsType[refusal](err); ok {
		return true
	}
	for _, of := range []error{errBehind, errFenced, errStopping, generations.ErrChanged, generations.ErrDamaged, identity.ErrUnpublished} {
		if errors.Is(err, of) {
			return true
		}
	}

	return false
}

// rotate does what a request asks for, and returns the names of renewed certificates.
func (s *server) rotate(r *http.Request, on ground) ([]string, error) {
	var want rotation
	if err := json.NewDecoder(r.Body).Decode(&want); err != nil {
		return nil, refusal{errors.New("the body is not JSON")}
	}
	switch [2]string{want.Rotate, want.Phase} {
	case [2]string{rotateCertificates}:
		return s.renewCertificates(on.door.addresses, on.keys, true)
	case [2]string{rotateTokenKey, phaseStart}:
		return nil, s.startTokenKeys(on)
	case [2]string{rotateTokenKey, phaseComplete}:
		return nil, s.completeTokenKeys(r.Context(), on, want.Force)
	case [2]string{rotateWorkloadKey, phaseStart}:
		return nil, s.startWorkloadKeys(on)
	case [2]string{rotateWorkloadKey, phaseComplete}:
		return nil, s.completeWorkloadKeys(r.Context(), on, want.Force)
	case [2]string{rotateCredentials, phaseStart}:
		return nil, described{s, on}.rotateAllNow(r.Context(), false)
	case [2]string{rotateCredentials, phaseComplete}:
		return nil, described{s, on}.rotateAllNow(r.Context(), true)
	case [2]string{rotateMonitoring}:
		return nil, described{s, on}.rotateMonitoring(r.Context())
	case [2]string{rotateEncryption}:
		return nil, s.startEncryption(on)
	case [2]string{rotateAuthorities, phaseStart}:
		return nil, s.startAuthorities(r.Context(), on)
	case [2]string{rotateAuthorities, phaseComplete}:
		return nil, s.completeAuthorities(r.Context(), on, want.Force)
	default:
		return nil, refusal{fmt.Errorf("rotate %q, phase %q: unknown", want.Rotate, want.Phase)}
	}
}
