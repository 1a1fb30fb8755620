// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

func main() {
	namespace := flag.String("namespace", "", "namespace of the installation, where the heartbeat is")
	interval := flag.Duration("heartbeat-interval", 30*time.Second, "time between two heartbeats")
	flag.Parse() // with --kubeconfig, which controller-runtime adds
	ctrl.SetLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{LogTimestamp: true}))
	if err := run(*namespace, *interval); err != nil {
		fmt.Fprintln(os.Stderr, "greeting:", err)
		os.Exit(1)
	}
}

func run(namespace string, interval time.Duration) error {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, gardenextensionsv1alpha1.AddToScheme} {
		if err := add(types); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	m, err := manager.New(config, manager.Options{Scheme: types, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	if err := m.Add(&heartbeat{client: m.GetClient(), namespace: namespace, interval: interval}); err != nil {
		return err
	}
	if err := (&reconciler{client: m.GetClient(), reader: m.GetAPIReader()}).add(m); err != nil {
		return err
	}
	return m.Start(ctrl.SetupSignalHandler())
}
