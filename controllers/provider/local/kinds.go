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
	// single is for actors that look at all objects of a shoot to act on one.
	single = 1
)

// rows are the kinds that the extension acts on, and who acts on each.
func (p parts) rows() []row {
	return []row{
		acts(p, kind.Infrastructure, gardencorev1beta1.FinalizerExtensionInfrastructure, many, &infrastructure.Actor{Client: p.client, Seed: p.seed}),
		acts(p, kind.ControlPlane, gardencorev1beta1.FinalizerExtensionControlPlane, many,
			&controlplane.Actor{Reader: p.reader, Seed: p.seed, Image: p.images.Terrarium}),
		acts(p, kind.Network, gardencorev1beta1.FinalizerExtensionNetwork, many, &network.Actor{Shoots: p.shoots, Image: p.images.NetworkAgent}),
		acts(p, kind.OperatingSystemConfig, gardencorev1beta1.FinalizerExtensionOperatingSystemConfig, many,
			&operatingsystemconfig.Actor{Reader: p.reader, Seed: p.seed}),
		acts(p, kind.Worker, gardencorev1beta1.FinalizerExtensionWorker, many, &worker.Actor{
			Reader: p.reader, Seed: p.seed, Clock: p.clock,
			Defaults: worker.Defaults{MachineImage: p.images.Machine, PauseImage: p.images.Pause, ImageArchives: p.images.Archives},
		}),
		acts(p, kind.ContainerRuntime, gardencorev1beta1.FinalizerExtensionContainerRuntime, single,
			&containerruntime.Actor{Reader: p.reader, Shoots: p.shoots}),
		acts(p, kind.DNSRecord, gardencorev1beta1.FinalizerExtensionDNSRecord, single, &dnsrecord.Actor{Reader: p.reader, Seed: p.seed, Clock: p.clock}),
	}
}

// row is a kind and the controller that runs its actor.
type row struct {
	adder

	kind string
}

// acts makes a row. Failures are retried soon: everything is on one machine, and the newcomer watches.
func acts[T gardenextensionsv1alpha1.Object](p parts, name, finalizer string, workers int, actor engine.Actor[T]) row {
	of, _ := extensions.Named(name)
	return row{kind: name, adder: &engine.Reconciler[T]{
		Name: strings.ToLower(name),
		New: func() T {
			object, _ := of.New().(T)
			return object
		},
		Finalizer: finalizer,
		Actor:     actor,
		Clock:     p.clock,
		Queue:     kit.Queue{Concurrency: workers, BaseDelay: time.Second, MaxDelay: 30 * time.Second},
	}}
}

// Kinds lists the extension kinds that the extension acts on.
func Kinds() []string {
	var names []string
	for _, r := range (parts{}).rows() {
		names = append(names, r.kind)
	}
	return names
}
