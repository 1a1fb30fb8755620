// SPDX-License-Identifier: Apache-2.0

// Command terrarium is a whole Gardener garden in one binary.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // Hibernation schedules name time zones, which not every machine has.

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := cli.UntilSignal(context.Background())
	defer stop()

	return cli.Main(ctx, cli.Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Clock: clock.RealClock{}, ConfigDir: options.ConfigDir,
	}, os.Args[1:])
}
