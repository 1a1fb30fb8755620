// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// The environment of the processes that are servers.
const (
	childDataDir  = "TERRARIUM_DATASTORES_DATA_DIR"
	childEndpoint = "TERRARIUM_DATASTORES_ENDPOINT"
	childListen   = "TERRARIUM_DATASTORES_LISTEN"
	childClock    = "TERRARIUM_DATASTORES_CLOCK"
	childVersion  = "TERRARIUM_DATASTORES_VERSION"
)

// What a server says.
const (
	saysReady   = "ready"
	saysStandby = "standby"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDataDir); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shifted is a clock that is ahead of the right time.
type shifted struct {
	clock.RealClock

	by time.Duration
}

// Now implements clock.PassiveClock.
func (c shifted) Now() time.Time { return time.Now().Add(c.by) }

// Since implements clock.PassiveClock.
func (c shifted) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// serve runs a server and writes when it stands by, and when it is ready.
func serve(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := telemetry.Redirect(logr.Discard(), telemetry.LevelError); err != nil {
		return err
	}
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	config.DataDir, config.Datastore.Endpoint, config.Listen = dir, os.Getenv(childEndpoint), os.Getenv(childListen)
	config.Upgrade.SkipSnapshot = true

	by, err := time.ParseDuration(os.Getenv(childClock))
	if err != nil {
		return err
	}

	return server.Run(ctx, server.Options{
		Config: config, Version: os.Getenv(childVersion), Clock: shifted{by: by},
		Log:     funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{LogTimestamp: true}),
		Standby: func() { fmt.Println(saysStandby) },
		Ready:   func(server.Garden) { fmt.Println(saysReady) },
	})
}
