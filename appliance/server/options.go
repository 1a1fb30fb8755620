// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"math"
	"net"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// Options are the options of a server.
type Options struct {
	// Config is the configuration. It must be complete and valid, see package options.
	Config *gardenconfigv1alpha1.ServerConfiguration
	// Log is the log of the server.
	Log logr.Logger
	// Logs changes the level of Log and has its newest lines; nil if that is not possible.
	Logs *telemetry.Control
	// Version is the version of this binary.
	Version string
	// Migrations lead to the data directory of this version; if nil, they are those of package upgrade.
	Migrations []upgrade.Migration
	// Listener accepts the connections; if nil, the server listens on Config.Listen.
	Listener net.Listener
	// MemoryLimit is the memory of which the caches may use a part; if 0, the caches have their default sizes.
	MemoryLimit int64
	// Clock gives the time; if nil, it is the system's clock.
	Clock clock.WithTicker
	// Ready is called once when the garden is ready.
	Ready func(Garden)
	// Standby is called when another server of the garden leads, and this one forwards to it. It may be called again.
	Standby func()
	// Datastore changes the configuration of the store, for tests.
	Datastore func(*kine.Config)
}

// Garden has the addresses and the identity of a garden that is ready.
type Garden struct {
	// Server is the URL that clients on other machines use.
	Server string
	// Local is the URL that clients on this machine use.
	Local string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// ClusterIdentity is the unique name of the garden, which never changes.
	ClusterIdentity string
}

// complete sets the defaults, and returns an error if a required option is missing.
func (o Options) complete() (Options, error) {
	var errs []error
	if o.Config == nil {
		errs = append(errs, errors.New("configuration: must be set"))
	} else if o.Config.DataDir == "" || (o.Config.Listen == "" && o.Listener == nil) {
		errs = append(errs, errors.New("configuration: data directory and listen address must be set"))
	}
	if o.Version == "" {
		errs = append(errs, errors.New("version: must be set"))
	}
	if err := errors.Join(errs...); err != nil {
		return Options{}, fmt.Errorf("run server: %w", err)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = math.MaxInt64
	}
	if o.Migrations == nil {
		o.Migrations = upgrade.Migrations()
	}
	if o.Logs == nil {
		o.Logs = telemetry.NewControl(telemetry.LevelInfo)
	}
	if o.Ready == nil {
		o.Ready = func(Garden) {}
	}
	if o.Standby == nil {
		o.Standby = func() {}
	}

	return o, nil
}
