// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// mayStartWorkloadKeys returns why a rotation of the key for tokens of workload identities cannot be started.
func (s *server) mayStartWorkloadKeys(on ground) error {
	if err := s.mayRotate(); err != nil {
		return err
	}
	if is := on.keys.WorkloadIdentity.Keys(); is.Rotating() {
		return refusal{fmt.Errorf("rotation of the workload identity key, begun on %s: %w", is.Since.Format(time.DateOnly), identity.ErrRotating)}
	}

	return nil
}

// startWorkloadKeys makes a new key for tokens of workload identities. The key set that external systems read has both keys.
func (s *server) startWorkloadKeys(on ground) error {
	if err := s.mayStartWorkloadKeys(on); err != nil {
		return err
	}
	err := on.keys.Changes.StartWorkloadIdentityRotation(s.Clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return refusal{fmt.Errorf("rotation of the workload identity key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("rotate workload identity key: %w", err)
	}
	s.Log.Info("Workload identity key rotation started", "key", on.keys.WorkloadIdentity.Keys().ID)
	s.keysChanged()
	s.wakeAuthorities()

	return nil
}

// mayCompleteWorkloadKeys returns why the rotation cannot be completed: unless it is forced, it cannot while seeds have not renewed their
// tokens, nor while tokens of the key before can be valid.
func (s *server) mayCompleteWorkloadKeys(ctx context.Context, on ground, force bool) error {
	if err := s.mayRotate(); err != nil {
		return err
	}
	is := on.keys.WorkloadIdentity.Keys()
	if !is.Rotating() {
		return refusal{fmt.Errorf("complete rotation of the workload identity key: %w", identity.ErrNotRotating)}
	}
	if err := s.mayForgetTokens(ctx, identityTokens(on.keys), force); err != nil {
		return err
	}
	if end := is.Since.Add(s.longestIdentityToken()); !force && s.Clock.Now().Before(end) {
		return refusal{fmt.Errorf(
			"tokens of the former workload identity key may be valid until %s, and would be refused at once; complete the rotation after that, or force it",
			end.Format(time.RFC3339))}
	}

	return nil
}

// completeWorkloadKeys ends the rotation: external systems cannot verify tokens of the key before any more.
func (s *server) completeWorkloadKeys(ctx context.Context, on ground, force bool) error {
	// What is judged is what is completed, whatever others begin meanwhile.
	id := on.keys.WorkloadIdentity.Keys().ID
	if err := s.mayCompleteWorkloadKeys(ctx, on, force); err != nil {
		return err
	}
	err := on.keys.Changes.CompleteWorkloadIdentityRotation(id, s.Clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return refusal{fmt.Errorf("complete rotation of the workload identity key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the workload identity key: %w", err)
	}
	s.Log.Info("Workload identity key rotation completed", "key", on.keys.WorkloadIdentity.Keys().ID, "forced", force)
	s.keysChanged()

	return nil
}

// longestIdentityToken is the longest validity of a token of a workload identity.
func (s *server) longestIdentityToken() time.Duration {
	return workloadIdentity(apiserver.NewConfig().WorkloadIdentity, &s.Config.WorkloadIdentity, "").MaxTokenLifetime
}
