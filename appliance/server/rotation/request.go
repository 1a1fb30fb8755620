// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// request is what a client wants to be renewed, and how.
type request struct {
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

// Rotate does what a request asks for, and returns the names of renewed certificates.
func (r *Rotations) Rotate(ctx context.Context, body io.Reader) ([]string, error) {
	var want request
	if err := json.NewDecoder(body).Decode(&want); err != nil {
		return nil, RefusedError{errors.New("the body is not JSON")}
	}
	if want.Force {
		return nil, r.force(ctx, want)
	}
	switch [2]string{want.Rotate, want.Phase} {
	case [2]string{rotateCertificates}:
		return r.Certificates.renew(true)
	case [2]string{rotateTokenKey, phaseStart}:
		return nil, r.tokenKeys.start()
	case [2]string{rotateTokenKey, phaseComplete}:
		return nil, r.tokenKeys.complete(ctx, false)
	case [2]string{rotateWorkloadKey, phaseStart}:
		return nil, r.workloadKeys.start()
	case [2]string{rotateWorkloadKey, phaseComplete}:
		return nil, r.workloadKeys.complete(ctx, false)
	case [2]string{rotateCredentials, phaseStart}:
		return nil, r.rotateAllNow(ctx, false)
	case [2]string{rotateCredentials, phaseComplete}:
		return nil, r.rotateAllNow(ctx, true)
	case [2]string{rotateMonitoring}:
		return nil, r.monitoring.rotate(ctx)
	case [2]string{rotateEncryption}:
		return nil, r.Encryption.start()
	case [2]string{rotateAuthorities, phaseStart}:
		return nil, r.Authorities.start(ctx)
	case [2]string{rotateAuthorities, phaseComplete}:
		return nil, r.Authorities.complete(ctx, false)
	default:
		return nil, RefusedError{fmt.Errorf("rotate %q, phase %q: unknown", want.Rotate, want.Phase)}
	}
}

// force completes a rotation in spite of what may still depend on it. Where nothing can be forced it refuses, so that nobody believes that
// it was.
func (r *Rotations) force(ctx context.Context, want request) error {
	switch [2]string{want.Rotate, want.Phase} {
	case [2]string{rotateTokenKey, phaseComplete}:
		return r.tokenKeys.complete(ctx, true)
	case [2]string{rotateWorkloadKey, phaseComplete}:
		return r.workloadKeys.complete(ctx, true)
	case [2]string{rotateAuthorities, phaseComplete}:
		return r.Authorities.complete(ctx, true)
	default:
		return RefusedError{fmt.Errorf("rotate %q, phase %q: force is only possible for phase %q of %q, %q and %q",
			want.Rotate, want.Phase, phaseComplete, rotateTokenKey, rotateWorkloadKey, rotateAuthorities)}
	}
}
