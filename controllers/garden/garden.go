// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/binding"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerdeployment"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/exposureclass"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
	"github.com/terrarium-garden/terrarium/controllers/garden/namespacedcloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/activity"
	"github.com/terrarium-garden/terrarium/controllers/garden/quota"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/backupbuckets"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/reference"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Options are what may be set about the controllers of the garden.
type Options struct {
	// Config configures each controller. What it leaves out gets the default of the controller.
	Config gardenconfigv1alpha1.ServerControllerConfiguration
	// Clock is the real clock if nil.
	Clock clock.PassiveClock
}

// Adders are the controllers of the garden. A new controller is a new line, and takes all that is configured about it from
// the section of its own.
func Adders(o Options) []kit.Adder {
	c, seeds, projects := o.Config, queue(o.Config.Seed.ConcurrentSyncs), queue(o.Config.Project.ConcurrentSyncs)
	registrations := queue(c.ControllerRegistration.ConcurrentSyncs)
	return []kit.Adder{
		&csr.Reconciler{Clock: o.Clock, Queue: queue(c.CertificateSigningRequest.ConcurrentSyncs)},
		&project.Reconciler{Quotas: c.Project.Quotas, Queue: projects},
		&activity.Reconciler{Clock: o.Clock, Queue: projects},
		&namespace.Reconciler{Queue: seeds},
		&lifecycle.Reconciler{
			Clock: o.Clock, SyncPeriod: duration(c.Seed.SyncPeriod), MonitorPeriod: duration(c.Seed.MonitorPeriod),
			ShootMonitorPeriod: duration(c.Seed.ShootMonitorPeriod), Queue: seeds,
		},
		seedCheck(extensions.Check(), c.SeedExtensionsCheck, o.Clock),
		seedCheck(backupbuckets.Check(), c.SeedBackupBucketsCheck, o.Clock),
		&controllerregistration.Reconciler{Queue: registrations},
		&extensionrole.Reconciler{Queue: registrations},
		&monitoring.Reconciler{Clock: o.Clock},
		&statuslabel.Reconciler{Queue: queue(c.ShootStatusLabel.ConcurrentSyncs)},
		&reference.Reconciler{Queue: queue(c.ShootReference.ConcurrentSyncs)},
		&managedseedset.Reconciler{Queue: queue(c.ManagedSeedSet.ConcurrentSyncs)},
		&namespacedcloudprofile.Reconciler{Queue: queue(c.NamespacedCloudProfile.ConcurrentSyncs)},
		protect(namespacedcloudprofile.Protection(), c.NamespacedCloudProfile),
		&cloudprofile.Reconciler{Clock: o.Clock, Queue: queue(c.CloudProfile.ConcurrentSyncs)},
		protect(cloudprofile.Protection(), c.CloudProfile),
		protect(exposureclass.Protection(), c.ExposureClass),
		protect(quota.Protection(), c.Quota),
		protect(binding.Protection(binding.Secret()), c.SecretBinding),
		protect(binding.Protection(binding.Credentials()), c.CredentialsBinding),
		protect(controllerdeployment.Protection(), c.ControllerDeployment),
		protect(controllerregistration.Protection(), c.ControllerRegistration),
		&inuse.Reconciler{Protection: controllerregistration.SeedProtection(), Queue: seeds},
	}
}

func protect(what inuse.Protection, c gardenconfigv1alpha1.ConcurrencyConfiguration) kit.Adder {
	return &inuse.Reconciler{Protection: what, Queue: queue(c.ConcurrentSyncs)}
}

func seedCheck(what check.Check, c gardenconfigv1alpha1.ServerSeedCheckConfiguration, clk clock.PassiveClock) kit.Adder {
	return &check.Reconciler{
		Check: what, Clock: clk, SyncPeriod: duration(c.SyncPeriod), Threshold: threshold(c.ConditionThresholds, what.Condition),
		Queue: queue(c.ConcurrentSyncs),
	}
}

// threshold is zero, which means none, for a condition that is not listed.
func threshold(all []gardenconfigv1alpha1.ConditionThreshold, condition gardencorev1beta1.ConditionType) time.Duration {
	for _, t := range all {
		if t.Type == string(condition) {
			return t.Duration.Duration
		}
	}
	return 0
}

func queue(workers *int) kit.Queue {
	if workers == nil {
		return kit.Queue{}
	}
	return kit.Queue{Concurrency: *workers}
}

// duration is zero, which means a controller's own default, where none is set.
func duration(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}
