// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// ShootCertificateName is the logical name of the certificate in the namespace of a control plane.
	ShootCertificateName = "gardener-resource-manager-webhooks"
	// remembered is how long the answer for a shoot is kept, also that there is none: a client must not make the seed work by connecting.
	remembered = 30 * time.Second
	// mostRemembered bounds the number of answers.
	mostRemembered = 2000
)

// ShootCertificates finds the certificates with which the server answers API servers of shoots. It is safe for concurrent use.
type ShootCertificates struct {
	// Seed reads the seed.
	Seed client.Reader
	// Clock tells the time.
	Clock clock.PassiveClock

	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	certificate *tls.Certificate
	err         error
	until       time.Time
}

// Of returns the certificate for the shoot of a namespace.
func (c *ShootCertificates) Of(ctx context.Context, namespace string) (*tls.Certificate, error) {
	now := c.Clock.Now()
	c.mu.Lock()
	found, ok := c.known[namespace]
	c.mu.Unlock()
	if ok && now.Before(found.until) {
		return found.certificate, found.err
	}
	found = answer{until: now.Add(remembered)}
	found.certificate, found.err = c.read(ctx, namespace)
	if ctx.Err() != nil {
		return found.certificate, found.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostRemembered {
		c.known = map[string]answer{}
	}
	c.known[namespace] = found
	return found.certificate, found.err
}

// read finds the newest certificate of the namespace.
func (c *ShootCertificates) read(ctx context.Context, namespace string) (*tls.Certificate, error) {
	list := &corev1.SecretList{}
	err := c.Seed.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{
		gardencorev1beta1.LabelSecretManagedBy: gardencorev1beta1.LabelSecretManagedByValue, gardencorev1beta1.LabelSecretName: ShootCertificateName,
	})
	if err != nil {
		return nil, fmt.Errorf("find the certificate of the webhooks of the shoot of namespace %q: %w", namespace, err)
	}
	var newest *corev1.Secret
	for i := range list.Items {
		if newest == nil || issued(&list.Items[i]) > issued(newest) {
			newest = &list.Items[i]
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("the namespace %q has no certificate of webhooks", namespace)
	}
	pair, err := tls.X509KeyPair(newest.Data[corev1.TLSCertKey], newest.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("read the certificate in Secret %q: %w", client.ObjectKeyFromObject(newest), err)
	}
	return &pair, nil
}

func issued(secret *corev1.Secret) int64 {
	at, err := strconv.ParseInt(secret.Labels[gardencorev1beta1.LabelSecretIssuedAtTime], 10, 64)
	if err != nil {
		return 0
	}
	return at
}
