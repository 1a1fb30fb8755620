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
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// A clock that is set moves no timers, so the certificates are looked at from time to time; and not too often if one is due that
// cannot be renewed.
const (
	certificatesPause    = time.Hour
	certificatesPatience = time.Minute
)

// Certificates renews the certificates of the garden.
type Certificates struct {
	clock clock.WithTicker
	log   logr.Logger
	keys  *identity.Garden
	// local is the URL of the server for clients on this machine.
	local string
	// snapshots saves the garden; nil if it takes no snapshots.
	snapshots *backup.Keeper
	signals   *Signals
}

// Run renews the certificates of the garden when they are due, and has new keys saved.
func (c *Certificates) Run(ctx context.Context, ready func()) error {
	ready()
	for {
		pause := min(c.keys.Certificates.RenewalDue().Sub(c.clock.Now()), certificatesPause)
		timer := c.clock.NewTimer(max(pause, certificatesPatience))
		select {
		case <-ctx.Done():
			timer.Stop()

			return nil
		case <-timer.C():
		case <-c.signals.certificates:
			timer.Stop()
			c.save(ctx)
		}
		if _, err := c.renew(false); err != nil {
			c.log.Error(err, "Certificates not renewed; trying again", "after", certificatesPatience)
		}
	}
}

// save takes a snapshot: what is written between snapshots has no keys.
func (c *Certificates) save(ctx context.Context) {
	if c.snapshots == nil {
		return
	}
	if _, err := c.snapshots.Take(ctx); err != nil && ctx.Err() == nil {
		c.log.Error(err, "Snapshot with the new keys failed; the next one has them")
	}
}

// renew renews certificates and the kubeconfig with one of them. The API server takes up the new files.
func (c *Certificates) renew(all bool) ([]string, error) {
	renewed, err := c.keys.Certificates.Renew(c.clock.Now(), all)
	if len(renewed) > 0 {
		c.log.Info("Certificates renewed", "certificates", renewed)
		err = errors.Join(err, c.keys.Certificates.WriteAdminKubeconfig(c.local))
	}
	if err != nil {
		return renewed, fmt.Errorf("renew certificates: %w", err)
	}

	return renewed, nil
}
