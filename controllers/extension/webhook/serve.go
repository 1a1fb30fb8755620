// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// AddToManager makes the process of an extension answer the webhooks and keep their certificates. Unset fields are filled from the manager
// of the seed. The process is ready only when it can answer.
func (k *Keeper) AddToManager(seed manager.Manager) error {
	if err := k.Set.Validate(); err != nil {
		return fmt.Errorf("webhooks of extension %q: %w", k.Set.Extension, err)
	}
	if k.Clock == nil {
		k.Clock = clock.RealClock{}
	}
	if k.Client == nil {
		k.Client = uncached{Client: seed.GetClient(), reader: seed.GetAPIReader()}
	}
	inSeed, inShoots := k.Home.ports()
	for _, part := range []struct {
		name     string
		port     int
		webhooks []Webhook
	}{{"webhooks-seed", inSeed, k.Set.Seed}, {"webhooks-shoots", inShoots, k.Set.Shoot}} {
		if len(part.webhooks) == 0 {
			continue
		}
		server, err := k.server(part.port, part.webhooks)
		if err != nil {
			return err
		}
		if err := seed.Add(server); err != nil {
			return fmt.Errorf("add the server of webhooks: %w", err)
		}
		if err := seed.AddReadyzCheck(part.name, server.StartedChecker()); err != nil {
			return fmt.Errorf("add the check of the server of webhooks: %w", err)
		}
	}
	if err := seed.AddReadyzCheck("webhooks-certificate", k.Ready); err != nil {
		return fmt.Errorf("add the check of the certificate of webhooks: %w", err)
	}
	if err := seed.Add(k); err != nil {
		return fmt.Errorf("add the keeper of the certificates of webhooks: %w", err)
	}
	return nil
}

// server answers webhooks at a port.
func (k *Keeper) server(port int, webhooks []Webhook) (webhook.Server, error) {
	server := webhook.NewServer(webhook.Options{Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
		c.MinVersion, c.GetCertificate = tls.VersionTLS12, k.certificate
	}}})
	for _, w := range webhooks {
		handler, err := w.Handler(k.Client.Scheme())
		if err != nil {
			return nil, err
		}
		server.Register(w.Path(), &admission.Webhook{Handler: handler, RecoverPanic: new(true)})
	}
	return server, nil
}

// uncached writes as a client does, and reads around its cache.
type uncached struct {
	client.Client

	reader client.Reader
}

// Get implements client.Reader.
func (u uncached) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return u.reader.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (u uncached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return u.reader.List(ctx, list, options...)
}
