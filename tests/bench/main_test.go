// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/memory"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

const (
	// childDataDir is set for the process that is the server.
	childDataDir = "TERRARIUM_BENCH_DATA_DIR"
	// childListen is where it listens.
	childListen = "TERRARIUM_BENCH_LISTEN"
	// logFile is where the server leaves its log, when set.
	logFile = "BENCH_LOG"
	// profileFile is where the server leaves a profile of its processor time, when set.
	profileFile = "BENCH_PROFILE"
	// startProfile is where it leaves one of the time until it is ready, when set.
	startProfile = "BENCH_START_PROFILE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDataDir); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// profiled returns what is called when the server is ready, and when it has ended, so that the profile that is asked for is written:
// that of the time until it is ready, or of the time afterwards.
func profiled() (ready func(), ended func() error, err error) {
	nothing := func() error { return nil }
	name, starting := os.LookupEnv(startProfile)
	if !starting {
		name = os.Getenv(profileFile)
	}
	if name == "" {
		return func() {}, nothing, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, nil, err
	}
	if starting {
		return pprof.StopCPUProfile, file.Close, pprof.StartCPUProfile(file)
	}
	ready = func() {
		if err := pprof.StartCPUProfile(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}

	return ready, func() error {
		pprof.StopCPUProfile()

		return file.Close()
	}, nil
}

// serve runs a server and writes the path of its kubeconfig once it is ready.
func serve(dir string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := telemetry.Redirect(logr.Discard(), telemetry.LevelError); err != nil {
		return err
	}
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	// More objects are made in one project than a project may have by default, and counting them is not what is measured.
	config.Controllers.Project.Quotas = nil
	config.DataDir = dir
	config.Listen = os.Getenv(childListen)

	log := logr.Discard()
	if file := os.Getenv(logFile); file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		log = telemetry.NewLogger(f, telemetry.Options{Level: telemetry.LevelInfo})
	}
	profile, done, err := profiled()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()

	if dir := os.Getenv(heapDir); dir != "" {
		go heaps(dir)
	}
	// As in a garden, so that a server under load is what it is there.
	limit := memory.Default("/")
	ready := memory.Limit(limit)

	return server.Run(ctx, server.Options{
		Config:      config,
		Log:         log,
		Version:     "v0.0.0-bench",
		MemoryLimit: limit,
		Ready: func(g server.Garden) {
			ready()
			go memory.Keep(ctx, clock.RealClock{}, log)
			profile()
			fmt.Println(g.Kubeconfig)
		},
	})
}
