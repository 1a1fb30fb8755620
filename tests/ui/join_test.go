// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"regexp"
	"time"

	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errNoCommand = errors.New("this is not a command that joins a seed")

// join does what somebody does who pastes the command of the web UI: it joins a cluster, which is the API of another garden, with a
// gardenlet in this process. It returns at once; the gardenlet runs until the test ends.
func (w *world) join(command string) error {
	found := regexp.MustCompile(`^terrarium gardenlet join (\S+) --token (\S+) .*--name (\S+)`).FindStringSubmatch(command)
	if len(found) == 0 {
		return errNoCommand
	}
	seed := harness.Start(w.t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- join.Run(ctx, join.Options{
			Server: w.Server, Token: found[2], SeedKubeconfig: seed.Kubeconfig, Name: found[3],
			Provider: "local", Region: "local", Pods: "10.1.0.0/16", Services: "10.2.0.0/16",
			Mode: join.ModeProcess, Timeout: 2 * time.Minute,
		}, join.Surroundings{
			Tell: func(line string) { w.log.add(line) }, Clock: clock.RealClock{}, UserAgent: "test", RunGardenlet: w.runGardenlet,
		}, seed.Kubeconfig)
	}()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("join: %v\n%s", err, w.log)
		}
	})

	return nil
}

// runGardenlet is the gardenlet of the process that joins.
func (w *world) runGardenlet(ctx context.Context, data []byte) error {
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		return err
	}
	config.Server.HealthProbes.Port, config.Server.Metrics.Port = 0, 0
	completed, err := gardenlet.Options{Config: config, Version: "v0.0.0-test", APILevel: build.GardenerAPILevel}.Complete()
	if err != nil {
		return err
	}

	return completed.Run(ctx)
}
