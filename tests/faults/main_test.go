// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/tests/wallclock"
)

// childDataDir is set for the process that is the server.
const childDataDir = "TERRARIUM_FAULTS_DATA_DIR"

// childSnapshots and childIncrements can be set for it too: where its snapshots are, and the time between two increments.
const (
	childSnapshots  = "TERRARIUM_FAULTS_SNAPSHOTS"
	childIncrements = "TERRARIUM_FAULTS_INCREMENTS"
)

// childDescriptors limits how many files and connections the process may have open, and childClock lets the test set its wall clock: a
// day forward by SIGUSR1, and a day back by SIGUSR2.
const (
	childDescriptors = "TERRARIUM_FAULTS_DESCRIPTORS"
	childClock       = "TERRARIUM_FAULTS_CLOCK"
	// probe is the value of childClock for a process that only tries whether its clock can be set.
	probe = "probe"
)

func TestMain(m *testing.M) {
	if os.Getenv(childClock) == probe {
		if _, err := wallclock.Take(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(childDataDir); dir != "" {
		if err := serveAsAsked(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveAsAsked makes the process what the environment says, and then a server.
func serveAsAsked(dir string) error {
	if err := limitDescriptors(); err != nil {
		return err
	}
	if err := takeClock(); err != nil {
		return err
	}

	return serve(dir)
}

// limitDescriptors limits what the process may have open.
func limitDescriptors() error {
	text := os.Getenv(childDescriptors)
	if text == "" {
		return nil
	}
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}

	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit})
}

// takeClock lets signals set the wall clock of the process.
func takeClock() error {
	if os.Getenv(childClock) == "" {
		return nil
	}
	clock, err := wallclock.Take()
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for got := range signals {
			if got == syscall.SIGUSR1 {
				clock.Step(jump)
			} else {
				clock.Step(-jump)
			}
		}
	}()

	return nil
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
