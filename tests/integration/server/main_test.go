// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/go-logr/logr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// childDataDir is set for a process that is a server of its own, started by a test to be killed.
const childDataDir = "TERRARIUM_TEST_CHILD_DATA_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDataDir); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

// child runs a server and writes a line to its output once it is ready.
func child(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := telemetry.Redirect(logr.Discard(), telemetry.LevelError); err != nil {
		fmt.Println(err)

		return 1
	}
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	config.DataDir = dir
	config.Listen = "127.0.0.1:0"
	err := server.Run(ctx, server.Options{
		Config:  config,
		Log:     telemetry.NewLogger(os.Stderr, telemetry.Options{}),
		Version: "v0.0.0-test",
		Ready:   func(g server.Garden) { fmt.Println(g.Kubeconfig) },
	})
	if err != nil {
		fmt.Println(err)

		return 1
	}

	return 0
}
