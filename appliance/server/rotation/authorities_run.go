// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	neturl "net/url"
	"time"

	"k8s.io/client-go/util/cert"
)

// Run does in the background what a change of the authorities needs, and has seeds renew their tokens after a change of the keys of
// these.
func (a *Authorities) Run(ctx context.Context, ready func()) error {
	ready()
	asked, waited := map[string]time.Time{}, map[string]bool{}
	for {
		pause, err := a.advance(ctx, asked)
		if err != nil && ctx.Err() == nil {
			pause = authoritiesRetry
			a.failure.Store(new(err.Error()))
			a.log.Error(err, "Certificate authorities not changed; trying again", "after", pause)
		} else {
			a.failure.Store(nil)
		}
		soon, err := a.tokens.renew(ctx, waited)
		if err != nil && ctx.Err() == nil {
			soon = authoritiesRetry
			a.log.Error(err, "Seeds not asked for new tokens; trying again", "after", soon)
		}
		pause = min(pause, soon)
		timer := a.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()

			return nil
		case <-timer.C():
		case <-a.signals.authorities:
			timer.Stop()
		}
	}
}

// advance does what can be done now, and returns when to look again. It notes which seeds were asked for new credentials when.
func (a *Authorities) advance(ctx context.Context, asked map[string]time.Time) (time.Duration, error) {
	r, err := a.keys.Authorities.Rotation()
	switch {
	case r == nil || err != nil:
		clear(asked)

		return certificatesPause, err
	case r.Completing != nil:
		return 0, a.finish(ctx)
	}
	pause := authoritiesPause
	if a.clock.Since(r.Started) > authoritiesSoon {
		pause = askingPause
	}
	// A start that has failed half-way is made whole.
	if err := a.keys.Changes.ContinueAuthorityRotation(a.clock.Now()); err != nil {
		return 0, fmt.Errorf("rotate certificate authorities: %w", err)
	}

	if r.Saved == nil {
		if err := errors.Join(a.keys.Certificates.WriteAdminKubeconfig(a.local), a.save(ctx)); err != nil {
			return 0, err
		}
		if err := a.keys.Changes.NoteAuthoritiesSaved(a.clock.Now()); err != nil {
			return 0, fmt.Errorf("rotate certificate authorities: %w", err)
		}
	}

	return pause, a.askSeeds(ctx, asked)
}

// finish forgets the former authorities once the server uses a certificate of the next one.
func (a *Authorities) finish(ctx context.Context) error {
	if err := a.keys.Changes.SwitchAuthorities(a.clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	if err := a.awaitServing(ctx); err != nil {
		return err
	}
	if err := a.keys.Changes.ForgetAuthorities(a.clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	// Who sees that the rotation is over can rely on the kubeconfig.
	if err := a.keys.Certificates.WriteAdminKubeconfig(a.local); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	if err := a.save(ctx); err != nil {
		return err
	}
	if err := a.keys.Changes.EndAuthorityRotation(a.clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	a.log.Info("Rotation of the certificate authorities completed")
	a.signals.tellGarden()

	return nil
}

// save takes a snapshot, if the garden takes any: who relies on authorities that are in none is shut out when the garden is restored.
func (a *Authorities) save(ctx context.Context) error {
	if a.snapshots == nil {
		return nil
	}
	if _, err := a.snapshots.Take(ctx); err != nil {
		return fmt.Errorf("take snapshot with the new certificate authorities: %w", err)
	}

	return nil
}

// awaitServing waits until a client that trusts only the next authority accepts the server.
func (a *Authorities) awaitServing(ctx context.Context) error {
	at, err := neturl.Parse(a.local)
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	certs, err := cert.ParseCertsPEM(a.keys.Authorities.ServingAuthority())
	if err != nil {
		return fmt.Errorf("read certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certs[0])
	dialer := &tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "localhost"}}

	return insist(ctx, func(ctx context.Context) error {
		connection, err := dialer.DialContext(ctx, "tcp", at.Host)
		if err != nil {
			return fmt.Errorf("wait for the new serving certificate: %w", err)
		}

		return connection.Close() //nolint:wrapcheck // It was only tried.
	})
}
