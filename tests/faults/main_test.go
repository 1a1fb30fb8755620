// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// childDataDir is set for the process that is the server.
const childDataDir = "TERRARIUM_FAULTS_DATA_DIR"

// childSnapshots and childIncrements can be set for it too: where its snapshots are, and the time between two increments.
const (
	childSnapshots  = "TERRARIUM_FAULTS_SNAPSHOTS"
	childIncrements = "TERRARIUM_FAULTS_INCREMENTS"
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

// serve runs a server and writes the path of its kubeconfig once it is ready.
func serve(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := telemetry.Redirect(logr.Discard(), telemetry.LevelError); err != nil {
		return err
	}
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	config.DataDir = dir
	config.Listen = "127.0.0.1:0"
	config.Snapshots.Directory = os.Getenv(childSnapshots)
	if text := os.Getenv(childIncrements); text != "" {
		interval, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		config.Snapshots.IncrementInterval.Duration = interval
	}

	return server.Run(ctx, server.Options{
		Config: config, Log: logr.Discard(), Version: "v0.0.0-test",
		Ready: func(g server.Garden) { fmt.Println(g.Kubeconfig) },
	})
}
