// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/runner"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// grace bounds the stop of all units together.
const grace = 30 * time.Second

// server is what the units hand on to each other. The runner starts a unit after the one before it was ready, so each
// field is written before it is read.
type server struct {
	Options

	readiness *readiness

	listener  net.Listener
	addresses addresses
	identity  *identity.Garden
	stores    *kine.Stores
	api       *apiserver.Server
	loopback  *rest.Config
	name      string
}

// Run runs a garden until ctx ends, and returns when nothing of it is left running. Its error says which unit failed.
func Run(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	// These libraries have one logger for the whole process.
	ctrl.SetLogger(o.Log.WithName("controllers"))
	kine.RouteLogs(o.Log.WithName("datastore"))
	s := &server{Options: o}
	units := s.units()
	s.readiness = newReadiness(units)

	return runner.Run(ctx, runner.Options{Grace: grace, Clock: o.Clock, Log: o.Log.WithName("server")},
		s.readiness.track(units)...)
}

// units is the order of the start; the stop goes the other way.
func (s *server) units() []runner.Unit {
	return []runner.Unit{
		{Name: "listener", Run: s.runListener},
		{Name: "identity", Run: s.runIdentity},
		{Name: "datastore", Run: s.runDatastore},
		{Name: "api-server", Run: s.runAPIServer},
		{Name: "first-objects", Run: s.runFirstObjects},
		{Name: "kube-controllers", Run: s.runKubeControllers},
		{Name: "garden-controllers", Run: s.runGardenControllers},
		{Name: "announce", Run: s.runAnnounce},
	}
}
