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
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// Options are what a server needs to run.
type Options struct {
	// Config is complete and valid: see package options.
	Config *gardenconfigv1alpha1.ServerConfiguration
	// Log receives the log of the server.
	Log logr.Logger
	// Version is the version of this binary.
	Version string
	// Listener receives the connections in place of one made for Config.Listen.
	Listener net.Listener
	// MemoryLimit is the amount of memory of which the caches take parts; 0 for as much as they are worth.
	MemoryLimit int64
	// Clock tells the time; the system's by default.
	Clock clock.WithTicker
	// Ready is called once, when the garden is ready.
	Ready func(Garden)
	// Datastore is for tests, which change by it how the objects are kept.
	Datastore func(*kine.Config)
}

// Garden says how to reach a garden that is ready.
type Garden struct {
	// Server is the URL that clients on other machines use.
	Server string
	// Local is the URL that clients on this machine use.
	Local string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// ClusterIdentity is the name that the garden keeps for life.
	ClusterIdentity string
}

// complete fills in what has a default.
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
	if o.Ready == nil {
		o.Ready = func(Garden) {}
	}

	return o, nil
}
