// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"fmt"
	"strconv"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Aging says when an authority is replaced that no rotation replaces.
type Aging struct {
	// Validity is how long its certificate is valid. It is renewed in good time before the end, as certificates are.
	Validity time.Duration
	// Overlap is how long the one before is trusted, and signs for servers, after there is a new one. Within that time the new bundle has
	// to reach all clients.
	Overlap time.Duration
}

// AgingCA returns the authority of that name, which is replaced by its age and not by a rotation. It is for those whose clients take a new
// bundle by themselves, such as webhooks (EXT-WH-6). Only one process may ask for it.
func (m *Manager) AgingCA(ctx context.Context, name string, aging Aging) (*CA, error) {
	if aging.Overlap <= 0 || aging.Overlap >= aging.Validity {
		return nil, fmt.Errorf("authority %q: it overlaps for %s with one that is valid for %s", name, aging.Overlap, aging.Validity)
	}
	found, err := m.obtainAging(ctx, authorityWish(name, aging.Validity, newECDSA), aging.Overlap)
	if err != nil {
		return nil, err
	}
	return m.authority(ctx, name, found)
}

// obtainAging finds the newest secret of a wish, or makes one if it is due, and the one before for as long as they overlap.
func (m *Manager) obtainAging(ctx context.Context, w wish, overlap time.Duration) (rotated, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, found := m.config.Clock.Now(), m.generations(w.name)
	var r rotated
	if len(found) > 0 && !due(found[0], now) {
		r.current = found[0]
		found = found[1:]
	} else {
		salt := ""
		if len(found) > 0 {
			salt = strconv.FormatInt(now.Unix(), 10)
		}
		var err error
		if r.current, err = m.make(ctx, w, salt); err != nil {
			return rotated{}, err
		}
	}
	m.used[r.current.Name] = struct{}{}
	since := time.Unix(unix(r.current, gardencorev1beta1.LabelSecretIssuedAtTime), 0)
	if len(found) > 0 && now.Before(since.Add(overlap)) && !expired(found[0], now) {
		r.old = found[0]
		m.used[r.old.Name] = struct{}{}
	}
	return r, nil
}
