// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const mergePatch = types.MergePatchType

// Maintain renews the certificate before it expires, or earlier if an annotation of the kubeconfig Secret asks for it, and
// adopts a kubeconfig that others wrote to the Secret. It returns when ctx ends. Without a kubeconfig Secret it does nothing.
func (a *Access) Maintain(ctx context.Context) error {
	if a.transport == nil {
		<-ctx.Done()
		return nil
	}
	due, err := a.schedule()
	if err != nil {
		return err
	}
	var failing time.Time // when the current series of failures began
	looked := a.surroundings.Clock.Now()
	for pause(ctx, a.surroundings.Clock, watchPause) == nil {
		changed, err := a.look(ctx, due)
		if now := a.surroundings.Clock.Now(); err == nil && now.Sub(looked) >= bundlePause {
			looked, err = now, a.refreshCA(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		now := a.surroundings.Clock.Now()
		switch {
		case err == nil:
			failing = time.Time{}
		case failing.IsZero():
			failing = now
			a.surroundings.Log.Info("Garden credentials could not be renewed, retrying", "reason", err.Error())
		case now.Sub(failing) >= issueTimeout:
			failing = now
			a.surroundings.RotationFailed(err, a.Expiry().Time)
		}
		if changed {
			if due, err = a.schedule(); err != nil {
				return err
			}
		}
	}
	return nil //nolint:nilerr // the loop ends when ctx does, whatever the last look met
}

// schedule chooses the time of the next rotation (GLET-ROT-2).
func (a *Access) schedule() (time.Time, error) {
	leaf, err := a.current.Load().Leaf()
	if err != nil {
		return time.Time{}, err
	}
	due := RotationTime(leaf, a.settings.RotateFrom, a.settings.RotateUntil, a.surroundings.Random())
	a.surroundings.Log.Info("Rotation of the garden credentials scheduled", "at", due, "expiry", leaf.NotAfter)
	return due, nil
}

// RotationTime returns the time of a rotation, at a share of the certificate's lifetime between two percentages. draw is from
// [0, 1).
func RotationTime(leaf *x509.Certificate, from, until int32, draw float64) time.Time {
	share := (float64(from) + (float64(until)-float64(from))*draw) / 100
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	return leaf.NotBefore.Add(time.Duration(float64(life) * share))
}

// look adopts or renews the credentials if the Secret or the time requires it. It reports whether the certificate has changed.
func (a *Access) look(ctx context.Context, due time.Time) (bool, error) {
	secret, err := a.readSecret(ctx, a.settings.KubeconfigSecret)
	if err != nil {
		return false, err
	}
	asked := false
	if secret != nil {
		if exchanged, err := a.adopt(secret.Data[gardencorev1beta1.DataKeyKubeconfig]); exchanged || err != nil {
			return exchanged, err
		}
		asked = secret.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationRenew
	}
	if !asked && a.surroundings.Clock.Now().Before(due) {
		return false, nil
	}
	if err := a.rotate(ctx, asked); err != nil {
		return false, err
	}
	return true, nil
}

// adopt starts to use a kubeconfig that others wrote to the Secret (GLET-ROT-6).
func (a *Access) adopt(kubeconfig []byte) (bool, error) {
	if len(kubeconfig) == 0 {
		return false, nil
	}
	found, err := ParseKubeconfig(kubeconfig)
	if err != nil {
		return false, fmt.Errorf("read Secret %s: %w", name(a.settings.KubeconfigSecret), err)
	}
	current := a.current.Load()
	if bytes.Equal(found.Certificate, current.Certificate) && bytes.Equal(found.CA, current.CA) {
		return false, nil
	}
	if len(found.Certificate) == 0 {
		return false, fmt.Errorf("Secret %s has no client certificate any more", name(a.settings.KubeconfigSecret)) //nolint:staticcheck // Secret is a kind
	}
	if err := found.Usable(a.settings.Seed, a.surroundings.Clock.Now()); err != nil {
		return false, fmt.Errorf("Secret %s was exchanged: %w", name(a.settings.KubeconfigSecret), err) //nolint:staticcheck // Secret is a kind
	}
	if err := a.take(&found); err != nil {
		return false, err
	}
	a.surroundings.Log.Info("Replaced garden credentials adopted", "secret", name(a.settings.KubeconfigSecret))
	return true, nil
}

// rotate replaces the certificate with a new one for the same subject. asked says that somebody has asked for it.
func (a *Access) rotate(ctx context.Context, asked bool) error {
	tryCtx, cancel := context.WithTimeout(ctx, issueTimeout)
	defer cancel()

	// Who asks for new credentials may have changed the CA, too.
	if err := a.refreshCA(tryCtx); err != nil {
		return err
	}
	current := *a.current.Load()
	leaf, err := current.Leaf()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(a.config)
	if err != nil {
		return fmt.Errorf("build garden client: %w", err)
	}
	requester := a.requester(clients)
	requester.alive = func() {}
	fresh := current
	fresh.Certificate, fresh.Key, err = requester.obtain(tryCtx, again(leaf))
	if err != nil {
		return fmt.Errorf("renew client certificate: %w", Explain(current.Server, err))
	}
	if err := a.store(tryCtx, fresh, asked); err != nil {
		return err
	}
	if err := a.take(&fresh); err != nil {
		return err
	}
	a.surroundings.Log.Info("Garden credentials renewed", "secret", name(a.settings.KubeconfigSecret), "expiry", a.Expiry().Time)
	return nil
}
