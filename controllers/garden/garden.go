// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerdeployment"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/garden/secretbinding"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Options are what an operator may set about the controllers of the garden. The zero value of each field is its default.
type Options struct {
	// Clock is the real clock if nil.
	Clock clock.PassiveClock
	// Queue bounds the work of each controller.
	Queue kit.Queue
	// Quotas are the resource quotas of projects.
	Quotas []project.Quota
	// SeedSyncPeriod is how often the heartbeat of each seed is looked at; 10 s by default.
	SeedSyncPeriod time.Duration
	// SeedMonitorPeriod is how long a gardenlet may be silent; 40 s by default.
	SeedMonitorPeriod time.Duration
	// ShootMonitorPeriod is how long a seed may be unheard before its shoots are called unknown; 200 s by default.
	ShootMonitorPeriod time.Duration
	// ExtensionsSyncPeriod is how often the extensions of each seed are judged; 30 s by default.
	ExtensionsSyncPeriod time.Duration
	// ExtensionsThreshold is how long bad extensions show as Progressing; 0 shows them at once.
	ExtensionsThreshold time.Duration
}

// Adders are the controllers of the garden. A new controller is a new line.
func Adders(o Options) []kit.Adder {
	return []kit.Adder{
		&csr.Reconciler{Clock: o.Clock, Queue: o.Queue},
		&project.Reconciler{Quotas: o.Quotas, Queue: o.Queue},
		&namespace.Reconciler{Queue: o.Queue},
		&lifecycle.Reconciler{
			Clock: o.Clock, SyncPeriod: o.SeedSyncPeriod, MonitorPeriod: o.SeedMonitorPeriod, ShootMonitorPeriod: o.ShootMonitorPeriod, Queue: o.Queue,
		},
		&extensions.Reconciler{Clock: o.Clock, SyncPeriod: o.ExtensionsSyncPeriod, Threshold: o.ExtensionsThreshold, Queue: o.Queue},
		&controllerregistration.Reconciler{Queue: o.Queue},
		&extensionrole.Reconciler{Queue: o.Queue},
		&statuslabel.Reconciler{Queue: o.Queue},
		&inuse.Reconciler{Protection: cloudprofile.Protection(), Queue: o.Queue},
		&inuse.Reconciler{Protection: secretbinding.Protection(), Queue: o.Queue},
		&inuse.Reconciler{Protection: controllerdeployment.Protection(), Queue: o.Queue},
		&inuse.Reconciler{Protection: controllerregistration.Protection(), Queue: o.Queue},
		&inuse.Reconciler{Protection: controllerregistration.SeedProtection(), Queue: o.Queue},
	}
}
