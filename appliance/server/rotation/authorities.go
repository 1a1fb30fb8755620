// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

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

// AuthorityStatus is how far the change of the authorities is.
type AuthorityStatus struct {
	identity.AuthorityRotation

	// Phase is preparing, prepared or completing.
	Phase string `json:"phase"`
	// Waiting are the seeds whose gardenlets have not taken up the next authorities.
	Waiting []string `json:"waiting,omitempty"`
	// Error is why the last attempt to go on failed.
	Error string `json:"error,omitempty"`
}

// Authorities changes the certificate authorities of the garden.
type Authorities struct {
	clock clock.WithTicker
	log   logr.Logger
	keys  *identity.Garden
	// local is the URL of the server for clients on this machine.
	local string
	// snapshots saves the garden; nil if it takes no snapshots.
	snapshots  *backup.Keeper
	api        serving
	gardenlets gardenlets
	// tokens are asked for by the same loop.
	tokens  *seedTokens
	signals *Signals
	// failure is why the last attempt to go on failed.
	failure atomic.Pointer[string]
}

// mayStart returns why a change of the authorities cannot be started now.
func (a *Authorities) mayStart() error {
	if err := a.api.mayRotate(); err != nil {
		return err
	}
	r, err := a.keys.Authorities.Rotation()
	if err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}
	if r != nil {
		return RefusedError{fmt.Errorf("rotation of the certificate authorities: %w", identity.ErrRotating)}
	}

	return nil
}

// start makes the next authorities, which are trusted beside the current ones from now on. Gardenlets are asked to take
// them up.
func (a *Authorities) start(ctx context.Context) error {
	if err := a.mayStart(); err != nil {
		return err
	}
	err := a.keys.Changes.StartAuthorityRotation(a.clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return RefusedError{fmt.Errorf("rotation of the certificate authorities: %w", err)}
	}
	// What has failed half-way is made whole in the background.
	defer a.signals.wakeAuthorities()
	if err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}
	a.log.Info("Rotation of the certificate authorities started")
	err = a.awaitAdmin(ctx)
	if err = errors.Join(err, a.keys.Certificates.WriteAdminKubeconfig(a.local)); err != nil {
		return fmt.Errorf("rotate certificate authorities: %w", err)
	}

	return nil
}

// awaitAdmin waits until the server accepts the administrator's certificate, which the next authority has signed.
func (a *Authorities) awaitAdmin(ctx context.Context) error {
	config, err := clientcmd.NewDefaultClientConfig(*a.keys.Certificates.AdminAccess("terrarium", a.local).Kubeconfig(), nil).ClientConfig()
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

// mayComplete returns why a change of the authorities cannot be completed now. If it is forced, it returns the seeds that are
// shut out by that.
func (a *Authorities) mayComplete(ctx context.Context, force bool) ([]string, error) {
	if err := a.api.mayRotate(); err != nil {
		return nil, err
	}
	r, err := a.keys.Authorities.Rotation()
	if err != nil {
		return nil, fmt.Errorf("rotate certificate authorities: %w", err)
	}
	switch {
	case r == nil:
		return nil, RefusedError{fmt.Errorf("complete rotation of the certificate authorities: %w", identity.ErrNotRotating)}
	case r.Completing != nil:
		return nil, RefusedError{fmt.Errorf("complete rotation of the certificate authorities: %w", identity.ErrCompleting)}
	}
	waiting, err := a.waitingSeeds(ctx)
	if err != nil {
		return nil, err
	}
	if len(waiting) > 0 && !force {
		return nil, RefusedError{fmt.Errorf(
			"the gardenlets of %d seeds have not taken up the next certificate authorities, and would be shut out: %s; wait until they have, or force it",
			len(waiting), first(waiting))}
	}

	return waiting, nil
}

// complete makes the next authorities the only ones. Unless it is forced, it is refused while a gardenlet has not taken
// them up, which it would shut out. What is left to do is done in the background.
func (a *Authorities) complete(ctx context.Context, force bool) error {
	out, err := a.mayComplete(ctx, force)
	if err != nil {
		return err
	}
	defer a.signals.wakeAuthorities()
	err = a.keys.Changes.SwitchAuthorities(a.clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return RefusedError{fmt.Errorf("complete rotation of the certificate authorities: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the certificate authorities: %w", err)
	}
	a.log.Info("Rotation of the certificate authorities is being completed", "forced", force, "shutOut", out)

	return nil
}

// first returns some of many names.
func first(names []string) string {
	if len(names) <= namedSeeds {
		return strings.Join(names, ", ")
	}

	return fmt.Sprintf("%s and %d others", strings.Join(names[:namedSeeds], ", "), len(names)-namedSeeds)
}

// Status returns how far the rotation is; nil if none goes on.
func (a *Authorities) Status(ctx context.Context) (*AuthorityStatus, error) {
	r, err := a.keys.Authorities.Rotation()
	if r == nil || err != nil {
		return nil, err
	}
	is := &AuthorityStatus{AuthorityRotation: *r, Phase: authoritiesCompleting}
	if failure := a.failure.Load(); failure != nil {
		is.Error = *failure
	}
	if r.Completing != nil {
		return is, nil
	}
	if is.Waiting, err = a.waitingSeeds(ctx); err != nil {
		return nil, err
	}
	if is.Phase = authoritiesPrepared; len(is.Waiting) > 0 {
		is.Phase = authoritiesPreparing
	}

	return is, nil
}
