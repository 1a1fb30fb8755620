// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	neturl "net/url"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

const (
	// authoritiesPause is the time between two looks at the gardenlets while the authorities are changed, and askingPause that after
	// authoritiesSoon, when the missing ones are off.
	authoritiesPause = 2 * time.Second
	authoritiesSoon  = 10 * time.Minute
	// authoritiesRetry is the time after which a step that failed is tried again.
	authoritiesRetry = 10 * time.Second
	// takeUpPause is the time between two looks whether the library has taken up new files.
	takeUpPause = 100 * time.Millisecond
	// namedSeeds is the number of seeds that an error names.
	namedSeeds = 5
)

// The phases of a change of the authorities that goes on.
const (
	// authoritiesPreparing is that gardenlets take up the next authorities.
	authoritiesPreparing = "preparing"
	// authoritiesPrepared is that all gardenlets have done so, and the change can be completed.
	authoritiesPrepared = "prepared"
	// authoritiesCompleting is that the former authorities are being removed.
	authoritiesCompleting = "completing"
)

// authorityStatus is how far the change of the authorities is.
type authorityStatus struct {
	identity.AuthorityRotation

	Phase string `json:"phase"`
	// Waiting are the seeds whose gardenlets have not taken up the next authorities.
	Waiting []string `json:"waiting,omitempty"`
	// Error is why the last attempt to go on failed.
	Error string `json:"error,omitempty"`
}

// mayStartAuthorities returns why a change of the authorities cannot be started now.
func (s *server) mayStartAuthorities(on ground) error {
	if err := s.mayRotate(); err != nil {
		return err
	}
	r, err := on.keys.Authorities.Rotation()
	if err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}
	if r != nil {
		return refusal{fmt.Errorf("rotation of the certificate authorities: %w", identity.ErrRotating)}
	}

	return nil
}

// startAuthorities makes the next authorities, which are trusted beside the current ones from now on. Gardenlets are asked to take
// them up.
func (s *server) startAuthorities(ctx context.Context, on ground) error {
	if err := s.mayStartAuthorities(on); err != nil {
		return err
	}
	err := on.keys.Changes.StartAuthorityRotation(s.Clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return refusal{fmt.Errorf("rotation of the certificate authorities: %w", err)}
	}
	// What has failed half-way is made whole in the background.
	defer s.wakeAuthorities()
	if err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}
	s.Log.Info("Rotation of the certificate authorities started")
	err = s.awaitAdmin(ctx, on.door.addresses, on.keys)
	if err = errors.Join(err, on.keys.Certificates.WriteAdminKubeconfig(on.door.addresses.local)); err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}

	return nil
}

// awaitAdmin waits until the server accepts the administrator's certificate, which the next authority has signed.
func (s *server) awaitAdmin(ctx context.Context, at addresses, keys *identity.Garden) error {
	config, err := clientcmd.NewDefaultClientConfig(*keys.Certificates.AdminAccess("terrarium", at.local).Kubeconfig(), nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("use the new certificate: %w", err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("use the new certificate: %w", err)
	}

	return insist(ctx, func(ctx context.Context) error {
		if err := clients.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error(); err != nil {
			return fmt.Errorf("use the new certificate: %w", err)
		}

		return nil
	})
}

// insist repeats what fails until the server has taken up new files, within a limit. It does so in the real time.
func insist(ctx context.Context, do func(ctx context.Context) error) error {
	limit, stop := context.WithTimeout(ctx, authoritiesRetry)
	defer stop()
	for {
		err := do(limit)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(takeUpPause)
		select {
		case <-limit.Done():
			timer.Stop()

			return err
		case <-timer.C:
		}
	}
}

// mayCompleteAuthorities returns why a change of the authorities cannot be completed now. If it is forced, it returns the seeds that are
// shut out by that.
func (s *server) mayCompleteAuthorities(ctx context.Context, on ground, force bool) ([]string, error) {
	if err := s.mayRotate(); err != nil {
		return nil, err
	}
	r, err := on.keys.Authorities.Rotation()
	if err != nil {
		return nil, fmt.Errorf("rotate certificate authorities: %w", err)
	}
	switch {
	case r == nil:
		return nil, refusal{fmt.Errorf("complete rotation of the certificate authorities: %w", identity.ErrNotRotating)}
	case r.Completing != nil:
		return nil, refusal{fmt.Errorf("complete rotation of the certificate authorities: %w", identity.ErrCompleting)}
	}
	waiting, err := s.waitingSeeds(ctx, on.keys)
	if err != nil {
		return nil, err
	}
	if len(waiting) > 0 && !force {
		return nil, refusal{fmt.Errorf(
			"the gardenlets of %d seeds have not taken up the next certificate authorities, and would be shut out: %s; wait until they have, or force it",
			len(waiting), first(waiting))}
	}

	return waiting, nil
}

// completeAuthorities makes the next authorities the only ones. Unless it is forced, it is refused while a gardenlet has not taken
// them up, which it would shut out. What is left to do is done in the background.
func (s *server) completeAuthorities(ctx context.Context, on ground, force bool) error {
	out, err := s.mayCompleteAuthorities(ctx, on, force)
	if err != nil {
		return err
	}
	defer s.wakeAuthorities()
	err = on.keys.Changes.SwitchAuthorities(s.Clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return refusal{fmt.Errorf("complete rotation of the certificate authorities: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	s.Log.Info("Rotation of the certificate authorities is being completed", "forced", force, "shutOut", out)

	return nil
}

// first returns some of many names.
func first(names []string) string {
	if len(names) <= namedSeeds {
		return strings.Join(names, ", ")
	}

	return fmt.Sprintf("%s and %d others", strings.Join(names[:namedSeeds], ", "), len(names)-namedSeeds)
}

// authorityStatus returns nil if no rotation goes on.
func (s *server) authorityStatus(ctx context.Context, keys *identity.Garden) (*authorityStatus, error) {
	r, err := keys.Authorities.Rotation()
	if r == nil || err != nil {
		return nil, err
	}
	is := &authorityStatus{AuthorityRotation: *r, Phase: authoritiesCompleting}
	if failure := s.untrusted.Load(); failure != nil {
		is.Error = *failure
	}
	if r.Completing != nil {
		return is, nil
	}
	if is.Waiting, err = s.waitingSeeds(ctx, keys); err != nil {
		return nil, err
	}
	if is.Phase = authoritiesPrepared; len(is.Waiting) > 0 {
		is.Phase = authoritiesPreparing
	}

	return is, nil
}

func (s *server) wakeAuthorities() {
	select {
	case s.trusting <- struct{}{}:
	default:
	}
	s.tellGarden()
}

// authorityKeeper does in the background what a change of the authorities needs, and has seeds renew their tokens after a change of the
// keys of these.
type authorityKeeper struct {
	*server

	at    addresses
	keys  *identity.Garden
	saved *backup.Keeper
}

func (k authorityKeeper) run(ctx context.Context, ready func()) error {
	ready()
	asked, waited := map[string]time.Time{}, map[string]bool{}
	for {
		pause, err := k.advance(ctx, asked)
		if err != nil && ctx.Err() == nil {
			pause = authoritiesRetry
			k.untrusted.Store(new(err.Error()))
			k.Log.Error(err, "Certificate authorities not changed; trying again", "after", pause)
		} else {
			k.untrusted.Store(nil)
		}
		soon, err := k.renewTokens(ctx, waited)
		if err != nil && ctx.Err() == nil {
			soon = authoritiesRetry
			k.Log.Error(err, "Seeds not asked for new tokens; trying again", "after", soon)
		}
		pause = min(pause, soon)
		timer := k.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()

			return nil
		case <-timer.C():
		case <-k.trusting:
			timer.Stop()
		}
	}
}

// advance does what can be done now, and returns when to look again. It notes which seeds were asked for new credentials when.
func (k authorityKeeper) advance(ctx context.Context, asked map[string]time.Time) (time.Duration, error) {
	r, err := k.keys.Authorities.Rotation()
	switch {
	case r == nil || err != nil:
		clear(asked)

		return certificatesPause, err
	case r.Completing != nil:
		return 0, k.complete(ctx)
	}
	pause := authoritiesPause
	if k.Clock.Since(r.Started) > authoritiesSoon {
		pause = askingPause
	}
	// A start that has failed half-way is made whole.
	if err := k.keys.Changes.ContinueAuthorityRotation(k.Clock.Now()); err != nil {
		return 0, fmt.Errorf("rotate certificate authorities: %w", err)
	}

	if r.Saved == nil {
		if err := errors.Join(k.keys.Certificates.WriteAdminKubeconfig(k.at.local), k.save(ctx)); err != nil {
			return 0, err
		}
		if err := k.keys.Changes.NoteAuthoritiesSaved(k.Clock.Now()); err != nil {
			return 0, fmt.Errorf("rotate certificate authorities: %w", err)
		}
	}

	return pause, k.askSeeds(ctx, k.keys, asked)
}

// complete forgets the former authorities once the server uses a certificate of the next one.
func (k authorityKeeper) complete(ctx context.Context) error {
	if err := k.keys.Changes.SwitchAuthorities(k.Clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	if err := k.awaitServing(ctx); err != nil {
		return err
	}
	if err := k.keys.Changes.ForgetAuthorities(k.Clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	// Who sees that the rotation is over can rely on the kubeconfig.
	if err := k.keys.Certificates.WriteAdminKubeconfig(k.at.local); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	if err := k.save(ctx); err != nil {
		return err
	}
	if err := k.keys.Changes.EndAuthorityRotation(k.Clock.Now()); err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	k.Log.Info("Rotation of the certificate authorities completed")
	k.tellGarden()

	return nil
}

// save takes a snapshot, if the garden takes any: who relies on authorities that are in none is shut out when the garden is restored.
func (k authorityKeeper) save(ctx context.Context) error {
	if k.saved == nil {
		return nil
	}
	if _, err := k.saved.Take(ctx); err != nil {
		return fmt.Errorf("take snapshot with the new certificate authorities: %w", err)
	}

	return nil
}

// awaitServing waits until a client that trusts only the next authority accepts the server.
func (k authorityKeeper) awaitServing(ctx context.Context) error {
	at, err := neturl.Parse(k.at.local)
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	certs, err := cert.ParseCertsPEM(k.keys.Authorities.ServingAuthority())
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
