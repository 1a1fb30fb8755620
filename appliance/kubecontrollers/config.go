// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Config says what the loops work on and with.
type Config struct {
	// Loopback reaches the API server with all rights.
	Loopback *rest.Config
	// Identity holds the CA that signs client certificates, the one that is published, and the key of service account tokens.
	Identity *identity.Garden
	// CertificateLifetime is how long a signed certificate is valid, unless its request asks for less.
	CertificateLifetime time.Duration
	// Resync is how often each loop looks at everything again.
	Resync time.Duration
	// Discovery is how often new kinds are looked for.
	Discovery time.Duration
}

// NewConfig returns a Config with everything that has one right value for a garden.
func NewConfig() Config {
	return Config{
		CertificateLifetime: 365 * 24 * time.Hour,
		Resync:              12 * time.Hour,
		Discovery:           30 * time.Second,
	}
}

func (c Config) validate() error {
	var errs []error
	if c.Loopback == nil || c.Identity == nil {
		errs = append(errs, errors.New("loopback and identity: must be set"))
	}
	if c.CertificateLifetime <= 0 || c.Resync <= 0 || c.Discovery <= 0 {
		errs = append(errs, errors.New("certificate lifetime, resync and discovery: must be positive, see NewConfig"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("configure loops: %w", err)
	}

	return nil
}
