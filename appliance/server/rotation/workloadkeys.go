// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// workloadKeys changes the key for tokens of workload identities.
type workloadKeys struct {
	clock   clock.PassiveClock
	log     logr.Logger
	keys    *identity.Garden
	api     serving
	tokens  *seedTokens
	signals *Signals
	// longest is the longest validity of a token of a workload identity.
	longest time.Duration
}

// mayStart returns why a rotation of the key for tokens of workload identities cannot be started.
func (w *workloadKeys) mayStart() error {
	if err := w.api.mayRotate(); err != nil {
		return err
	}
	if is := w.keys.WorkloadIdentity.Keys(); is.Rotating() {
		return RefusedError{fmt.Errorf("rotation of the workload identity key, begun on %s: %w", is.Since.Format(time.DateOnly), identity.ErrRotating)}
	}

	return nil
}

// start makes a new key for tokens of workload identities. The key set that external systems read has both keys.
func (w *workloadKeys) start() error {
	if err := w.mayStart(); err != nil {
		return err
	}
	err := w.keys.Changes.StartWorkloadIdentityRotation(w.clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return RefusedError{fmt.Errorf("rotation of the workload identity key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("rotate workload identity key: %w", err)
	}
	w.log.Info("Workload identity key rotation started", "key", w.keys.WorkloadIdentity.Keys().ID)
	w.signals.keysChanged()
	w.signals.wakeAuthorities()

	return nil
}

// mayComplete returns why the rotation cannot be completed: unless it is forced, it cannot while seeds have not renewed their
// tokens, nor while tokens of the key before can be valid.
func (w *workloadKeys) mayComplete(ctx context.Context, force bool) error {
	if err := w.api.mayRotate(); err != nil {
		return err
	}
	is := w.keys.WorkloadIdentity.Keys()
	if !is.Rotating() {
		return RefusedError{fmt.Errorf("complete rotation of the workload identity key: %w", identity.ErrNotRotating)}
	}
	if err := w.tokens.mayForget(ctx, identityTokens(w.keys), force); err != nil {
		return err
	}
	if end := is.Since.Add(w.longest); !force && w.clock.Now().Before(end) {
		return RefusedError{fmt.Errorf(
			"tokens of the former workload identity key may be valid until %s, and would be refused at once; complete the rotation after that, or force it",
			end.Format(time.RFC3339))}
	}

	return nil
}

// complete ends the rotation: external systems cannot verify tokens of the key before any more.
func (w *workloadKeys) complete(ctx context.Context, force bool) error {
	// What is judged is what is completed, whatever others begin meanwhile.
	id := w.keys.WorkloadIdentity.Keys().ID
	if err := w.mayComplete(ctx, force); err != nil {
		return err
	}
	err := w.keys.Changes.CompleteWorkloadIdentityRotation(id, w.clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return RefusedError{fmt.Errorf("complete rotation of the workload identity key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the workload identity key: %w", err)
	}
	w.log.Info("Workload identity key rotation completed", "key", w.keys.WorkloadIdentity.Keys().ID, "forced", force)
	w.signals.keysChanged()

	return nil
}
