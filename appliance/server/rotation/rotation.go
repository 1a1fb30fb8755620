// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// Config has what the rotations of a garden need.
type Config struct {
	Clock clock.WithTicker
	Log   logr.Logger
	// Keys are the keys and authorities of the garden.
	Keys *identity.Garden
	// Local is the URL of the server for clients on this machine.
	Local string
	// Snapshots saves the garden with its keys; nil if it takes no snapshots.
	Snapshots *backup.Keeper
	// API returns the API server, and Live what reads objects from the store; nil while the server starts.
	API  func() *apiserver.Server
	Live func() *client.Reader
	// Revoked returns the names of the seeds that are shut out.
	Revoked func() []string
	// LongestToken and LongestIdentityToken are the longest validity of a token of a service account that is requested, and of one of a
	// workload identity.
	LongestToken, LongestIdentityToken time.Duration
	// Signals wake up who acts on changed keys.
	Signals *Signals
}

// Rotations change the certificates, authorities, keys and passwords of a garden.
type Rotations struct {
	Certificates *Certificates
	Encryption   *Encryption
	Authorities  *Authorities

	keys         *identity.Garden
	live         func() *client.Reader
	tokens       *seedTokens
	tokenKeys    *tokenKeys
	workloadKeys *workloadKeys
	monitoring   *monitoring
}

// New makes the rotations of a garden.
func New(c Config) *Rotations {
	seeds := gardenlets{api: c.API, revoked: c.Revoked}
	tokens := &seedTokens{clock: c.Clock, keys: c.Keys, gardenlets: seeds, signals: c.Signals}

	return &Rotations{
		Certificates: &Certificates{clock: c.Clock, log: c.Log, keys: c.Keys, local: c.Local, snapshots: c.Snapshots, signals: c.Signals},
		Encryption:   &Encryption{clock: c.Clock, log: c.Log, keys: c.Keys, api: c.API, snapshots: c.Snapshots, signals: c.Signals},
		Authorities: &Authorities{
			clock: c.Clock, log: c.Log, keys: c.Keys, local: c.Local, snapshots: c.Snapshots,
			api: c.API, gardenlets: seeds, tokens: tokens, signals: c.Signals,
		},
		keys: c.Keys, live: c.Live, tokens: tokens,
		tokenKeys:    &tokenKeys{clock: c.Clock, log: c.Log, keys: c.Keys, api: c.API, tokens: tokens, signals: c.Signals, longest: c.LongestToken},
		workloadKeys: &workloadKeys{clock: c.Clock, log: c.Log, keys: c.Keys, api: c.API, tokens: tokens, signals: c.Signals, longest: c.LongestIdentityToken},
		monitoring:   &monitoring{live: c.Live, writer: seeds.client},
	}
}

// serving returns the API server; nil while the server starts.
type serving func() *apiserver.Server

// mayRotate returns why this server changes none of its keys.
func (s serving) mayRotate() error {
	if s() == nil {
		return RefusedError{errStarting}
	}

	return nil
}

// errStarting says that a part of the server that a rotation needs is not there yet.
var errStarting = errors.New("the server is starting; try again")

// RefusedError is an error that a client can do something about. It says what.
type RefusedError struct{ Err error }

// Error implements error.
func (e RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e RefusedError) Unwrap() error { return e.Err }
