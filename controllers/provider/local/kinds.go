// SPDX-License-Identifier: Apache-2.0

package local

import (
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/infrastructure"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/network"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

// Kinds lists the extension kinds that the extension acts on.
func Kinds() []string {
	return []string{kind.Infrastructure, kind.ControlPlane, kind.Network, kind.OperatingSystemConfig, kind.Worker, kind.DNSRecord}
}

// queue retries soon: everything is on one machine, and the newcomer watches.
func queue(concurrency int) kit.Queue {
	return kit.Queue{Concurrency: concurrency, BaseDelay: time.Second, MaxDelay: 30 * time.Second}
}

func (p parts) infrastructure() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.Infrastructure]{
		Name:      "infrastructure",
		New:       func() *gardenextensionsv1alpha1.Infrastructure { return &gardenextensionsv1alpha1.Infrastructure{} },
		Finalizer: gardencorev1beta1.FinalizerExtensionInfrastructure,
		Actor:     &infrastructure.Actor{Client: p.client, Seed: p.seed},
		Clock:     p.clock,
		Queue:     queue(5),
	}
}

func (p parts) controlPlane() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.ControlPlane]{
		Name:      "controlplane",
		New:       func() *gardenextensionsv1alpha1.ControlPlane { return &gardenextensionsv1alpha1.ControlPlane{} },
		Finalizer: gardencorev1beta1.FinalizerExtensionControlPlane,
		Actor:     &controlplane.Actor{Reader: p.reader, Seed: p.seed, Image: p.images.Terrarium},
		Clock:     p.clock,
		Queue:     queue(5),
	}
}

func (p parts) network() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.Network]{
		Name:      "network",
		New:       func() *gardenextensionsv1alpha1.Network { return &gardenextensionsv1alpha1.Network{} },
		Finalizer: gardencorev1beta1.FinalizerExtensionNetwork,
		Actor:     &network.Actor{ShootClient: p.shoot, Owner: Name, Clock: p.clock, Image: p.images.NetworkAgent},
		Clock:     p.clock,
		Queue:     queue(5),
	}
}

func (p parts) operatingSystemConfig() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.OperatingSystemConfig]{
		Name: "operatingsystemconfig",
		New: func() *gardenextensionsv1alpha1.OperatingSystemConfig {
			return &gardenextensionsv1alpha1.OperatingSystemConfig{}
		},
		Finalizer: gardencorev1beta1.FinalizerExtensionOperatingSystemConfig,
		Actor:     &operatingsystemconfig.Actor{Reader: p.reader, Seed: p.seed},
		Clock:     p.clock,
		Queue:     queue(5),
	}
}

func (p parts) worker() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.Worker]{
		Name:      "worker",
		New:       func() *gardenextensionsv1alpha1.Worker { return &gardenextensionsv1alpha1.Worker{} },
		Finalizer: gardencorev1beta1.FinalizerExtensionWorker,
		Actor: &worker.Actor{Reader: p.reader, Seed: p.seed, Clock: p.clock, Defaults: worker.Defaults{
			MachineImage:  p.images.Machine,
			PauseImage:    p.images.Pause,
			ImageArchives: p.images.Archives,
		}},
		Clock: p.clock,
		Queue: queue(5),
	}
}

// dnsRecord works on one record at a time, because every record is rendered with all others of its namespace.
func (p parts) dnsRecord() adder {
	return &engine.Reconciler[*gardenextensionsv1alpha1.DNSRecord]{
		Name:      "dnsrecord",
		New:       func() *gardenextensionsv1alpha1.DNSRecord { return &gardenextensionsv1alpha1.DNSRecord{} },
		Finalizer: gardencorev1beta1.FinalizerExtensionDNSRecord,
		Actor:     &dnsrecord.Actor{Reader: p.reader, Seed: p.seed, Clock: p.clock},
		Clock:     p.clock,
		Queue:     queue(1),
	}
}
