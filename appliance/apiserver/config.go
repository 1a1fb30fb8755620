// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// Config says how the API server of a garden is run.
type Config struct {
	// Listener receives the connections. The server owns it from Run on.
	Listener net.Listener
	// ExternalHost is the address that clients are told, with a port where it is not 443.
	ExternalHost string
	// Identity holds the keys and certificates. Certificates are read from their files again when those change.
	Identity *identity.Garden
	// Objects and Events are where objects are kept.
	Objects, Events kine.Endpoint
	// Compact asks the store for compaction; set it for a store that does not do so itself.
	Compact bool
	// GardenAdmission are the garden's own rules about garden kinds, KubeAdmission those about all others, in the order
	// in which they are asked.
	GardenAdmission, KubeAdmission []admission.Rule
	// AdmissionOff names rules of Kubernetes that are not asked, AdmissionOn those that are asked although they are off by
	// default. Both may name other rules, which are chosen already.
	AdmissionOff, AdmissionOn []string
	// ReadyChecks are further conditions of /readyz.
	ReadyChecks []ReadyCheck
	// ServiceAccountIssuer is the issuer of service account tokens. Tokens become invalid when it changes.
	ServiceAccountIssuer string
	// MaxServiceAccountTokenLifetime is the longest validity of requested tokens of service accounts; longer ones are cut.
	MaxServiceAccountTokenLifetime time.Duration
	// EventTTL is how long an Event is kept.
	EventTTL time.Duration
	// MaxKubeconfigLifetime bounds the validity of kubeconfigs for shoots.
	MaxKubeconfigLifetime time.Duration
	// WorkloadIdentity says what the tokens of workload identities are like.
	WorkloadIdentity WorkloadIdentity
	// ObjectBytes bounds what is remembered of how objects are written to clients.
	ObjectBytes int64
	// Mounts are what else is served on the port.
	Mounts gateway.Mounts
	// DebugHandlers serves pages that show what is inside of the server.
	DebugHandlers bool
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before users are warned.
	CredentialsRotationInterval time.Duration
	// Clock tells the time for certificates.
	Clock clock.Clock
	// Log receives what admission has refused.
	Log logr.Logger
}

// ReadyCheck is a condition of /readyz, which shows its name.
type ReadyCheck struct {
	Name  string
	Check func() error
}

// NewConfig returns a Config with everything that has one right value for a garden.
func NewConfig() Config {
	return Config{
		ServiceAccountIssuer:  "https://kubernetes.default.svc",
		EventTTL:              time.Hour,
		MaxKubeconfigLifetime: 24 * time.Hour,

		// Some thousand shoots.
		ObjectBytes: 96 << 20,

		MaxServiceAccountTokenLifetime: 90 * 24 * time.Hour,

		CredentialsRotationInterval: 90 * 24 * time.Hour,

		WorkloadIdentity: WorkloadIdentity{MinTokenLifetime: time.Hour, MaxTokenLifetime: 48 * time.Hour},
		Clock:            clock.RealClock{},
	}
}

// Completed is a Config that can be built. Only Config.Complete makes one.
type Completed struct{ *completed }

type completed struct {
	Config

	library options.CompletedOptions
	// seeds decides what gardenlets may do.
	seeds *seedAuthorization
}

// Complete checks the Config and fills in what follows from it.
func (c Config) Complete(ctx context.Context) (Completed, error) {
	if err := c.validate(); err != nil {
		return Completed{}, fmt.Errorf("configure API server: %w", err)
	}
	if err := configureLibraries(); err != nil {
		return Completed{}, err
	}
	library, err := c.libraryOptions().Complete(ctx, nil, nil)
	if err != nil {
		return Completed{}, fmt.Errorf("complete options of the control plane: %w", err)
	}

	seeds, err := newSeedAuthorization(c.Clock)
	if err != nil {
		return Completed{}, err
	}

	return Completed{&completed{Config: c, library: library, seeds: seeds}}, nil
}

func (c Config) validate() error {
	var errs []error
	if c.Listener == nil {
		errs = append(errs, errors.New("listener: must be set"))
	} else if _, ok := c.Listener.Addr().(*net.TCPAddr); !ok {
		errs = append(errs, fmt.Errorf("listener: %T is no TCP address", c.Listener.Addr()))
	}
	if len(c.Objects.Servers) == 0 || len(c.Events.Servers) == 0 {
		errs = append(errs, errors.New("stores: objects and events need a server each"))
	}
	if c.Identity == nil {
		errs = append(errs, errors.New("identity: must be set"))
	}
	if c.ExternalHost == "" || c.ServiceAccountIssuer == "" {
		errs = append(errs, errors.New("external host and service account issuer: must be set"))
	}
	if c.EventTTL <= 0 || c.MaxKubeconfigLifetime <= 0 || c.CredentialsRotationInterval <= 0 || c.Clock == nil {
		errs = append(errs, errors.New("event TTL, kubeconfig lifetime, rotation interval and clock: must be set, see NewConfig"))
	}

	if w := c.WorkloadIdentity; w.Issuer == "" || w.MinTokenLifetime <= 0 || w.MaxTokenLifetime < w.MinTokenLifetime {
		errs = append(errs, errors.New("issuer and lifetimes of workload identity tokens: must be set, see NewConfig"))
	}

	return errors.Join(errs...)
}
