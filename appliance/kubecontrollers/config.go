// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Config is the configuration of the loops.
type Config struct {
	// Loopback is a client configuration for the API server with all permissions.
	Loopback *rest.Config
	// Source returns a source that lists and watches all objects of a kind within this process, or nil. If it is not set, all
	// objects come over Loopback.
	Source func(kind runtime.Object) cache.ListerWatcher
	// Metadata does the same for the metadata of all objects of a resource. If it is not set, they come over Loopback.
	Metadata func(resource schema.GroupVersionResource) cache.ListerWatcher
	// Identity has the CA that signs client certificates, the published CA, and the key that signs service account tokens.
	Identity *identity.Garden
	// CertificateLifetime is the lifetime of signed certificates, unless the request has a shorter one.
	CertificateLifetime time.Duration
	// Resync is the period after which each loop processes all objects again.
	Resync time.Duration
	// Discovery is the period of discovery for new kinds.
	Discovery time.Duration
}

// NewConfig returns a Config with its defaults.
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
