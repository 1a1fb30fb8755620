// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerdeployment"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/exposureclass"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
	"github.com/terrarium-garden/terrarium/controllers/garden/namespacedcloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/garden/quota"
	"github.com/terrarium-garden/terrarium/controllers/garden/secretbinding"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/reference"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Options are what may be set about the controllers of the garden. The zero value of each field is its default.
type Options struct {
	// Config is the pace of each controller. What it leaves out gets the default of the controller.
	Config gardenconfigv1alpha1.ServerControllerConfiguration
	// Clock is the real clock if nil.
	Clock clock.PassiveClock
	// SeedSyncPeriod, SeedMonitorPeriod and ShootMonitorPeriod are used where Config leaves them out.
	SeedSyncPeriod, SeedMonitorPeriod, ShootMonitorPeriod time.Duration
	// Quotas are the resource quotas of projects.
	Quotas []project.Quota
	// ExtensionsSyncPeriod is how often the extensions of each seed are judged; 30 s by default.
	ExtensionsSyncPeriod time.Duration
	// ExtensionsThreshold is how long bad extensions show as Progressing; 0 shows them at once.
	ExtensionsThreshold time.Duration
}

// Adders are the controllers of the garden. A new controller is a new line.
func Adders(o Options) []kit.Adder {
	c := o.Config
	seeds := queue(c.Seed.ConcurrentSyncs)
	return []kit.Adder{
		&csr.Reconciler{Clock: o.Clock, Queue: queue(c.CertificateSigningRequest.ConcurrentSyncs)},
		&project.Reconciler{Quotas: o.Quotas, Queue: queue(c.Project.ConcurrentSyncs)},
		&namespace.Reconciler{Queue: seeds},
		&lifecycle.Reconciler{
			Clock: o.Clock, SyncPeriod: duration(c.Seed.SyncPeriod, o.SeedSyncPeriod), MonitorPeriod: duration(c.Seed.MonitorPeriod, o.SeedMonitorPeriod),
			ShootMonitorPeriod: duration(c.Seed.ShootMonitorPeriod, o.ShootMonitorPeriod), Queue: seeds,
		},
		&extensions.Reconciler{Clock: o.Clock, SyncPeriod: o.ExtensionsSyncPeriod, Threshold: o.ExtensionsThreshold, Queue: seeds},
		&controllerregistration.Reconciler{Queue: queue(c.ControllerRegistration.ConcurrentSyncs)},
		&monitoring.Reconciler{Clock: o.Clock},
		&extensionrole.Reconciler{},
		&statuslabel.Reconciler{},
		&reference.Reconciler{},
		&inuse.Reconciler{Protection: cloudprofile.Protection(), Queue: queue(c.CloudProfile.ConcurrentSyncs)},
		&namespacedcloudprofile.Reconciler{Queue: queue(c.CloudProfile.ConcurrentSyncs)},
		&inuse.Reconciler{Protection: namespacedcloudprofile.Protection(), Queue: queue(c.CloudProfile.ConcurrentSyncs)},
		&inuse.Reconciler{Protection: exposureclass.Protection()},
		&inuse.Reconciler{Protection: quota.Protection()},
		&inuse.Reconciler{Protection: secretbinding.Protection(), Queue: queue(c.SecretBinding.ConcurrentSyncs)},
		&inuse.Reconciler{Protection: controllerdeployment.Protection(), Queue: queue(c.ControllerDeployment.ConcurrentSyncs)},
		&inuse.Reconciler{Protection: controllerregistration.Protection(), Queue: queue(c.ControllerRegistration.ConcurrentSyncs)},
		&inuse.Reconciler{Protection: controllerregistration.SeedProtection(), Queue: seeds},
	}
}

func queue(workers *int) kit.Queue {
	if workers == nil {
		return kit.Queue{}
	}
	return kit.Queue{Concurrency: *workers}
}

func duration(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}
