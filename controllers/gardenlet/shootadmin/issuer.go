// SPDX-License-Identifier: Apache-2.0

// Package shootadmin lets the gardenlet act in the shoots of its seed as an administrator, without a credential of an administrator in
// the seed. It signs a certificate of short life with the authority of the shoot, and keeps it in memory. So the gardenlet reaches a
// shoot in which nobody else has rights yet, and repairs the access of others.
package shootadmin

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// AnnotationAuthority on the Secret with the kubeconfig names the Secret of the authority for clients that the API server accepts. While a
// rotation begins there is a newer one, which the API server does not know yet.
const AnnotationAuthority = "credentials.gardener.cloud/client-authority"

const (
	// user is the name under which the gardenlet acts.
	user = "gardener.cloud:system:gardenlet"
	// validity is the life of a certificate. Another one is signed after half of it.
	validity = time.Hour
	// identity is that of the gardenlet's manager of secrets.
	identity = "gardenlet"
)

// Issuer issues kubeconfigs. It is safe for concurrent use.
type Issuer struct {
	// Seed reads the Secrets of control planes, without a cache.
	Seed client.Reader
	// Clock tells the time.
	Clock clock.PassiveClock

	mu     sync.Mutex
	issued map[string]issued
}

// issued is a certificate with what signed it.
type issued struct {
	certificate *secrets.Certificate
	authority   []byte
	renew       time.Time
}

// Kubeconfig is that of an administrator of the shoot with that control-plane namespace. It stays the same until its certificate is
// renewed, or until something else in it changes. Where the shoot is says the Secret gardener; without that, the error is
// kit.ErrNoShootAccess.
func (i *Issuer) Kubeconfig(ctx context.Context, namespace string) ([]byte, error) {
	known := &corev1.Secret{}
	err := i.Seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gardencorev1beta1.SecretGardener}, known)
	if apierrors.IsNotFound(err) || err == nil && len(known.Data[gardencorev1beta1.DataKeyKubeconfig]) == 0 {
		i.forget(namespace)

		return nil, fmt.Errorf("%w: there is no Secret %q with a kubeconfig", kit.ErrNoShootAccess, namespace+"/"+gardencorev1beta1.SecretGardener)
	}
	if err != nil {
		return nil, fmt.Errorf("find out where the shoot is: %w", err)
	}
	spec, err := secrets.ReadKubeconfig(known.Data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %q: %w", gardencorev1beta1.DataKeyKubeconfig, client.ObjectKeyFromObject(known), err)
	}
	spec.Token = ""
	if spec.Certificate, err = i.certificate(ctx, namespace, known.Annotations[AnnotationAuthority]); err != nil {
		return nil, err
	}

	return secrets.Kubeconfig(spec)
}

// certificate is the one in use, or a new one if it is time for that, or if the authority was rotated.
func (i *Issuer) certificate(ctx context.Context, namespace, accepted string) (*secrets.Certificate, error) {
	authority, err := secrets.FindCA(ctx, i.Seed, client.ObjectKey{Namespace: namespace, Name: gardencorev1beta1.SecretCAClient}, identity, accepted)
	if err != nil {
		return nil, err
	}
	if authority == nil {
		return nil, fmt.Errorf("%w: the authority %q does not exist in namespace %q", kit.ErrNoShootAccess, gardencorev1beta1.SecretCAClient, namespace)
	}
	now := i.Clock.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if have, found := i.issued[namespace]; found && now.Before(have.renew) && bytes.Equal(have.authority, authority.Certificate) {
		return have.certificate, nil
	}
	certificate, err := secrets.SignClient(authority, secrets.CertificateSpec{
		CommonName: user, Organizations: []string{gardencorev1beta1.GroupMasters}, Validity: validity,
	}, now)
	if err != nil {
		return nil, err
	}
	if i.issued == nil {
		i.issued = map[string]issued{}
	}
	// Nobody asks for those of shoots that are gone, and they are not to stay in memory with their keys.
	maps.DeleteFunc(i.issued, func(_ string, old issued) bool { return !now.Before(old.renew) })
	i.issued[namespace] = issued{certificate: certificate, authority: authority.Certificate, renew: now.Add(validity / 2)}

	return certificate, nil
}

func (i *Issuer) forget(namespace string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.issued, namespace)
}
