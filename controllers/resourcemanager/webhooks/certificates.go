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
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// ShootCertificateName is the logical name of the certificate in the namespace of a control plane.
	ShootCertificateName = "gardener-resource-manager-webhooks"
	// ShootKeyName is the logical name of the key that the API server shows.
	ShootKeyName = "gardener-resource-manager-webhooks-key"
	// remembered is how long the answer for a shoot is kept, also that there is none: a client must not make the seed work by connecting.
	remembered = 30 * time.Second
	// mostRemembered bounds the number of answers.
	mostRemembered = 2000
)

// ShootCertificates finds the certificates with which the server answers API servers of shoots, and the keys that these show. It is safe for
// concurrent use.
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
	keys        []string
	err         error
	until       time.Time
}

// Of returns the certificate for the shoot of a namespace.
func (c *ShootCertificates) Of(ctx context.Context, namespace string) (*tls.Certificate, error) {
	found := c.find(ctx, namespace)
	return found.certificate, found.err
}

// Keys returns the keys with which the API server of the shoot of a namespace is let in; none if it needs none yet.
func (c *ShootCertificates) Keys(ctx context.Context, namespace string) ([]string, error) {
	found := c.find(ctx, namespace)
	return found.keys, found.err
}

func (c *ShootCertificates) find(ctx context.Context, namespace string) answer {
	now := c.Clock.Now()
	c.mu.Lock()
	found, ok := c.known[namespace]
	c.mu.Unlock()
	if ok && now.Before(found.until) {
		return found
	}
	found = answer{until: now.Add(remembered)}
	if found.certificate, found.err = c.certificate(ctx, namespace); found.err == nil {
		found.keys, found.err = c.readKeys(ctx, namespace)
	}
	if ctx.Err() != nil {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostRemembered {
		c.known = map[string]answer{}
	}
	c.known[namespace] = found
	return found
}

// generated are the Secrets of a logical name in the namespace.
func (c *ShootCertificates) generated(ctx context.Context, namespace, name string) ([]corev1.Secret, error) {
	list := &corev1.SecretList{}
	err := c.Seed.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{
		gardencorev1beta1.LabelSecretManagedBy: gardencorev1beta1.LabelSecretManagedByValue, gardencorev1beta1.LabelSecretName: name,
	})
	if err != nil {
		return nil, fmt.Errorf("find Secret %q for the webhooks of the shoot of namespace %q: %w", name, namespace, err)
	}
	return list.Items, nil
}

// readKeys finds the keys of the namespace.
func (c *ShootCertificates) readKeys(ctx context.Context, namespace string) ([]string, error) {
	list, err := c.generated(ctx, namespace, ShootKeyName)
	if err != nil {
		return nil, err
	}
	var keys []string
	for i := range list {
		key := string(list[i].Data[secrets.DataKeyToken])
		if key == "" {
			return nil, fmt.Errorf("secret %q has no key %q", client.ObjectKeyFromObject(&list[i]), secrets.DataKeyToken)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// certificate finds the newest certificate of the namespace.
func (c *ShootCertificates) certificate(ctx context.Context, namespace string) (*tls.Certificate, error) {
	list, err := c.generated(ctx, namespace, ShootCertificateName)
	if err != nil {
		return nil, err
	}
	var newest *corev1.Secret
	for i := range list {
		if newest == nil || issued(&list[i]) > issued(newest) {
			newest = &list[i]
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
