// SPDX-License-Identifier: Apache-2.0

package local

import (
	"strings"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/bastion"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/containerruntime"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/infrastructure"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/network"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

const (
	// many objects of most kinds can be acted on at the same time.
	many = 5
	// single is for actors that read all objects of a shoot to act on one of them.
	single = 1
)

// rows lists the kinds that the extension acts on, with their actors.
func rows(a engine.Access, find cloud.Find) []row {
	return []row{
		acts(a, kind.Infrastructure, gardencorev1beta1.FinalizerExtensionInfrastructure, many, &infrastructure.Actor{Access: a, Cloud: find}),
		acts(a, kind.ControlPlane, gardencorev1beta1.FinalizerExtensionControlPlane, many, &controlplane.Actor{Access: a, Cloud: find}),
		acts(a, kind.Network, gardencorev1beta1.FinalizerExtensionNetwork, many, &network.Actor{Access: a}),
		acts(a, kind.OperatingSystemConfig, gardencorev1beta1.FinalizerExtensionOperatingSystemConfig, many, &operatingsystemconfig.Actor{Access: a}),
		acts(a, kind.Worker, gardencorev1beta1.FinalizerExtensionWorker, many, &worker.Actor{Access: a, Cloud: find}),
		acts(a, kind.ContainerRuntime, gardencorev1beta1.FinalizerExtensionContainerRuntime, single, &containerruntime.Actor{Access: a}),
		acts(a, kind.Bastion, gardencorev1beta1.FinalizerExtensionBastion, many, &bastion.Actor{Access: a, Cloud: find}),
		acts(a, kind.DNSRecord, gardencorev1beta1.FinalizerExtensionDNSRecord, many, &dnsrecord.Actor{Access: a, Cloud: find}),
	}
}

// row is a kind and the controller that runs its actor.
type row struct {
	controller

	kind string
}

// controller is an engine for any kind.
type controller interface {
	adder

	// ActUnasked makes it act without being asked.
	ActUnasked()
}

// acts makes a row. Failures are retried soon: everything runs on one machine, and a user is waiting for it.
func acts[T gardenextensionsv1alpha1.Object](a engine.Access, name, finalizer string, workers int, actor engine.Actor[T]) row {
	of, _ := extensions.Named(name)
	return row{kind: name, controller: &engine.Reconciler[T]{
		Base: kit.Base{Clock: a.Seed.Clock, Queue: kit.Queue{Concurrency: workers, BaseDelay: time.Second, MaxDelay: 30 * time.Second}},
		Name: strings.ToLower(name),
		New: func() T {
			object, _ := of.New().(T)
			return object
		},
		Finalizer: finalizer,
		Actor:     actor,
		Limit:     Limit(name),
	}}
}

// Limit is how long one run on an object of a kind may take: machines and what they need take longer (EXT-STAT-7).
func Limit(name string) time.Duration {
	switch name {
	case kind.Infrastructure, kind.Worker, kind.Bastion:
		return 20 * time.Minute
	default:
		return 3 * time.Minute
	}
}

// Kinds lists the extension kinds that the extension acts on.
func Kinds() []string {
	var names []string
	for _, r := range rows(engine.Access{}, nil) {
		names = append(names, r.kind)
	}
	return names
}
