// SPDX-License-Identifier: Apache-2.0

// Seedling is a disposable one-node Kubernetes cluster in one binary: the programs of the cluster (kube-apiserver,
// kubelet, etcd, ...) and the commands that start and remove it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc/grpclog"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/seedling/applets"
	"github.com/terrarium-garden/terrarium/appliance/seedling/command"
)

func main() {
	os.Exit(run())
}

func run() int {
	programs := applets.All(context.Background())
	if applet, args, found := programs.Select(os.Args); found {
		return applet.Run(args) // it handles signals itself
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The libraries of the API server make gRPC log every failed connection; the commands wait for some on purpose.
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	binary, err := os.Executable()
	if err == nil {
		root := command.New(command.Program{Binary: binary, Applets: programs.Names(), Clock: clock.RealClock{}})
		err = root.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}
