// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/tokenkeys"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/snapshot"
)

// Config is the configuration of the API server of a garden.
type Config struct {
	// Listener receives the connections. The server owns it from Run on.
	Listener net.Listener
	// ExternalHost is the address for clients, with the port unless it is 443.
	ExternalHost string
	// Identity has the keys and certificates. Certificates are reloaded when their files change.
	Identity *identity.Garden
	// Objects and Events are the stores of objects and of Events.
	Objects, Events kine.Endpoint
	// Compact makes the server compact the store; set it for a store that does not compact itself.
	Compact bool
	// GardenAdmission are the garden's own admission plugins for garden kinds, KubeAdmission those for all other kinds, in the
	// order in which they run.
	GardenAdmission, KubeAdmission []admission.Rule
	// AdmissionOff names the plugins of Kubernetes to disable, AdmissionOn those to enable although they are disabled by
	// default. Both may name other plugins, which are ignored here.
	AdmissionOff, AdmissionOn []string
	// ReadyChecks are further checks of /readyz.
	ReadyChecks []ReadyCheck
	// ServiceAccountIssuer is the issuer of service account tokens. Tokens become invalid when it changes.
	ServiceAccountIssuer string
	// MaxServiceAccountTokenLifetime is the longest validity of requested tokens of service accounts; longer requests are shortened.
	MaxServiceAccountTokenLifetime time.Duration
	// EventTTL is how long an Event is kept.
	EventTTL time.Duration
	// MaxKubeconfigLifetime is the longest validity of kubeconfigs for shoots.
	MaxKubeconfigLifetime time.Duration
	// ShorterKubeconfigLifetime is a further bound that can change while the server runs; nil or 0 for none.
	ShorterKubeconfigLifetime func() time.Duration
	// WorkloadIdentity configures the tokens of workload identities.
	WorkloadIdentity WorkloadIdentity
	// OIDC is an issuer of identity tokens that the API accepts; nil for none.
	OIDC *OIDC
	// Timeline keeps what happens to shoots, seeds, backup entries and managed seeds. It is closed after the server has ended.
	Timeline *timeline.Store
	// Snapshots keeps the snapshots of the garden; nil if it takes none.
	Snapshots snapshot.Keeper
	// Audit takes the lines of the audit log, which is closed after the server has ended; nil turns it off. AuditPolicy is the file of
	// its policy; empty means the default.
	Audit       io.Writer
	AuditPolicy string
	// ObjectBytes is the size of the cache of encoded objects.
	ObjectBytes int64
	// Mounts are what else is served on the port.
	Mounts gateway.Mounts
	// DebugHandlers enables the debug pages.
	DebugHandlers bool
	// CredentialsRotationInterval is how long credentials of a shoot can go without a rotation before users are warned.
	CredentialsRotationInterval time.Duration
	// Clock is the clock for certificates.
	Clock clock.Clock
	// Log is the logger for rejections of admission, and for requests of seeds that no rule is about.
	Log logr.Logger
}

// OIDC is an issuer of identity tokens. The prefixes come before the names of users and groups in its tokens.
type OIDC struct {
	IssuerURL, ClientID, CAFile   string
	UsernameClaim, UsernamePrefix string
	GroupsClaim, GroupsPrefix     string
}

// ReadyCheck is a check of /readyz, which shows its name.
type ReadyCheck struct {
	Name  string
	Check func() error
}

// NewConfig returns a Config with the values that are the same for all gardens.
func NewConfig() Config {
	return Config{
		ServiceAccountIssuer:  "https://kubernetes.default.svc",
		EventTTL:              time.Hour,
		MaxKubeconfigLifetime: 24 * time.Hour,

		// Enough for some thousand shoots.
		ObjectBytes: 96 << 20,

		MaxServiceAccountTokenLifetime: 90 * 24 * time.Hour,

		CredentialsRotationInterval: 90 * 24 * time.Hour,

		WorkloadIdentity: WorkloadIdentity{MinTokenLifetime: time.Hour, MaxTokenLifetime: 48 * time.Hour},
		Clock:            clock.RealClock{},
	}
}

// Completed is a completed Config. Only Config.Complete returns one.
type Completed struct{ *completed }

type completed struct {
	Config

	library options.CompletedOptions
	// tokens has the keys of service account tokens.
	tokens *tokenkeys.Verifier
	// encryption encrypts what is stored.
	encryption *encryption
	// seeds authorizes gardenlets.
	seeds *seedAuthorization
	// revoked are the seeds that are shut out, office changes them.
	revoked *revoked.Set
	office  *revoked.Office
}

// Complete validates the Config and sets the values that are derived from it.
func (c Config) Complete(ctx context.Context) (Completed, error) {
	if err := c.validate(); err != nil {
		return Completed{}, fmt.Errorf("configure API server: %w", err)
	}
	if err := configureLibraries(); err != nil {
		return Completed{}, err
	}
	if len(c.logs()) == 0 {
		if err := compareCaches(); err != nil {
			return Completed{}, err
		}
	}
	tokens, err := tokenkeys.NewVerifier(c.Identity.ServiceAccount.Keys)
	if err != nil {
		return Completed{}, fmt.Errorf("configure API server: %w", err)
	}
	wanted := c.libraryOptions()
	wanted.Authentication.ServiceAccounts.ExternalPublicKeysGetter = tokens
	library, err := wanted.Complete(ctx, nil, nil)
	if err != nil {
		return Completed{}, fmt.Errorf("complete options of the control plane: %w", err)
	}
	library.ServiceAccountIssuer = tokenkeys.NewSigner(c.ServiceAccountIssuer, c.Identity.ServiceAccount.Keys)

	seeds, err := newSeedAuthorization(c.Log, c.Clock)
	if err != nil {
		return Completed{}, err
	}

	return Completed{&completed{Config: c, library: library, tokens: tokens, encryption: newEncryption(c.Identity), seeds: seeds, revoked: revoked.NewSet()}}, nil
}

func (c Config) validate() error {
	var errs []error
	if c.Listener == nil {
		errs = append(errs, errors.New("listener: must be set"))
	} else if _, ok := c.Listener.Addr().(*net.TCPAddr); !ok {
		errs = append(errs, fmt.Errorf("listener: %T is not a TCP address", c.Listener.Addr()))
	}
	if len(c.Objects.Servers) == 0 || len(c.Events.Servers) == 0 {
		errs = append(errs, errors.New("stores: objects and events must each have a server"))
	}
	if c.Timeline == nil {
		errs = append(errs, errors.New("timeline: must be set"))
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
