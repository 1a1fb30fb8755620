// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// DefaultPeriod is the time between two looks at the certificates (EXT-WH-6).
	DefaultPeriod = 5 * time.Minute
	// validity is how long the authority is valid, and overlap how long the one before is trusted (EXT-WH-6).
	validity = 30 * 24 * time.Hour
	overlap  = 24 * time.Hour
)

// Keeper keeps the certificates of the webhooks of an extension, and all configurations that have to trust them. It is for one process: an
// extension of several is to start it in the one that leads, and its webhooks with it.
type Keeper struct {
	// Set are the webhooks.
	Set Set
	// Client reaches the seed without a cache. It may write Secrets in the namespace of the extension and in those of shoots,
	// ManagedResources, and MutatingWebhookConfigurations.
	Client client.Client
	// Home is where the webhooks are answered.
	Home Home
	// Period is the time between two looks at the certificates; 0 takes the default.
	Period time.Duration
	// Clock tells the time.
	Clock clock.WithTicker

	serving atomic.Pointer[served]
}

// served is what is served and trusted at a time.
type served struct {
	certificate *tls.Certificate
	bundle      []byte
}

// errNotReady says that there is no certificate yet.
var errNotReady = errors.New("the webhooks have no certificate yet")

// Start keeps the certificates until ctx ends. A failure is logged and tried again: what is served lasts for days.
func (k *Keeper) Start(ctx context.Context) error {
	const soon = 5 * time.Second
	period := cmp.Or(k.Period, DefaultPeriod)
	for {
		pause := period
		if err := k.Keep(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Keeping the certificates of webhooks failed", "extension", k.Set.Extension)
			pause = soon
		}
		timer := k.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
	}
}

// Keep looks at everything once. A new authority is trusted everywhere before anything is served that it has signed: it signs only after
// the overlap, and a certificate is served only after the API server of the seed was told.
func (k *Keeper) Keep(ctx context.Context) error {
	if err := k.Set.Validate(); err != nil {
		return fmt.Errorf("webhooks of extension %q: %w", k.Set.Extension, err)
	}
	keys, err := secrets.Load(ctx, secrets.Config{Client: k.Client, Namespace: k.Home.Namespace, Identity: k.Set.Extension + "-webhook", Clock: k.Clock})
	if err != nil {
		return err
	}
	next, err := k.obtain(ctx, keys)
	if err != nil {
		return err
	}
	if err := k.tellSeed(ctx, next.bundle); err != nil {
		return err
	}
	k.serving.Store(next)
	if err := k.tellShoots(ctx, next.bundle); err != nil {
		return err
	}
	return keys.Cleanup(ctx)
}

// obtain returns the certificate to serve and the bundle that verifies it.
func (k *Keeper) obtain(ctx context.Context, keys *secrets.Manager) (*served, error) {
	authority, err := keys.AgingCA(ctx, "ca-"+k.Set.Extension+"-webhook", secrets.Aging{Validity: validity, Overlap: overlap})
	if err != nil {
		return nil, err
	}
	names, addresses := k.Home.names()
	made, err := keys.Certificate(ctx, secrets.CertificateSpec{
		Name: k.Set.Extension + "-webhook-server", CA: authority, Usage: secrets.UsageServer, CommonName: k.Set.Extension, DNSNames: names, IPs: addresses,
	})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		return nil, fmt.Errorf("read certificate %q: %w", made.SecretName, err)
	}
	return &served{certificate: &pair, bundle: authority.Bundle.PEM}, nil
}

// tellSeed brings the configuration into the seed. That of an earlier version is removed: nothing would be written while nobody answers it.
func (k *Keeper) tellSeed(ctx context.Context, bundle []byte) error {
	if len(k.Set.Seed) == 0 {
		err := k.engine().Delete(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName(k.Set.Extension)}})
		if apierrors.IsForbidden(err) {
			return nil // Who may not has never made one.
		}
		return err
	}
	home := &corev1.Namespace{}
	if err := k.Client.Get(ctx, client.ObjectKey{Name: k.Home.Namespace}, home); err != nil {
		return fmt.Errorf("get the namespace %q of the extension: %w", k.Home.Namespace, err)
	}
	configuration, err := k.Set.inSeed(k.Client.Scheme(), home, k.Home.seed(bundle))
	if err != nil {
		return err
	}
	return k.engine().Apply(ctx, configuration)
}

func (k *Keeper) engine() deploy.Engine {
	return deploy.Engine{Client: k.Client, Owner: k.Set.Extension, Clock: k.Clock}
}

// certificate is what is served in a handshake.
func (k *Keeper) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := k.serving.Load()
	if now == nil {
		return nil, errNotReady
	}
	return now.certificate, nil
}

// Ready is a check for the readiness of the process: it fails as long as there is no certificate.
func (k *Keeper) Ready(*http.Request) error {
	if k.serving.Load() == nil {
		return errNotReady
	}
	return nil
}
