// SPDX-License-Identifier: Apache-2.0

// Package garden lists the controllers of the garden. Each has a folder of its own below this one. The scheduler is a package
// beside this one, because anybody may replace it.
package garden

import (
	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/bastion"
	"github.com/terrarium-garden/terrarium/controllers/garden/binding"
	"github.com/terrarium-garden/terrarium/controllers/garden/cloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/garden/event"
	"github.com/terrarium-garden/terrarium/controllers/garden/extensionrole"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
	"github.com/terrarium-garden/terrarium/controllers/garden/namespacedcloudprofile"
	"github.com/terrarium-garden/terrarium/controllers/garden/plant"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/activity"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/resourcequota"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/stale"
	"github.com/terrarium-garden/terrarium/controllers/garden/reference"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/conditions"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
	shootlifecycle "github.com/terrarium-garden/terrarium/controllers/garden/shoot/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/migration"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/quota"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/retry"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/selfhosted"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/state"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

// Adders returns the controllers of the garden, including its scheduler. A new controller is a new line. Each takes its own
// section of the configuration, which must be complete with its defaults. Controllers of one kind share a section. The indexes that some
// of them need come first.
func Adders(config *gardenconfigv1alpha1.ServerConfiguration) []kit.Adder {
	c := config.Controllers
	return []kit.Adder{
		hosted.Index{},
		selfhosted.Index{},
		&csr.Reconciler{Config: c.CertificateSigningRequest},
		&project.Reconciler{Config: c.Project},
		&activity.Reconciler{Config: c.Project.ConcurrencyConfiguration},
		&stale.Reconciler{Config: c.Project},
		&resourcequota.Reconciler{Config: c.Project.ConcurrencyConfiguration},
		&namespace.Reconciler{Config: c.Seed.ConcurrencyConfiguration},
		&lifecycle.Reconciler{Config: c.Seed},
		&shootlifecycle.Reconciler{Config: c.Seed},
		&check.Reconciler{Check: check.Extensions(), Config: c.SeedExtensionsCheck},
		&check.Reconciler{Check: check.BackupBuckets(), Config: c.SeedBackupBucketsCheck},
		&controllerregistration.Reconciler{Config: c.ControllerRegistration},
		&controllerregistration.ShootReconciler{Config: c.ControllerRegistration},
		&extensionrole.Reconciler{Config: c.ControllerRegistration},
		&event.Reconciler{Config: c.Event},
		&bastion.Reconciler{Config: c.Bastion},
		&plant.Reconciler{Config: c.Plant},
		&monitoring.Reconciler{},
		&statuslabel.Reconciler{Config: c.ShootStatusLabel},
		&reference.Reconciler{Holder: reference.Shoots(), Config: c.ShootReference},
		&reference.Reconciler{Holder: reference.Seeds(), Config: c.SeedReference},
		&reference.Reconciler{Holder: reference.ControllerDeployments(), Config: c.ControllerDeploymentReference},
		&conditions.Reconciler{Config: c.ShootConditions},
		&migration.Reconciler{Config: c.ShootMigration},
		&quota.Reconciler{Config: c.ShootQuota},
		&retry.Reconciler{Config: c.ShootRetry},
		&state.Reconciler{Config: c.ShootState},
		&maintenance.Reconciler{Config: c.ShootMaintenance},
		&hibernation.Reconciler{Config: c.ShootHibernation},
		&managedseedset.Reconciler{Config: c.ManagedSeedSet},
		&namespacedcloudprofile.Reconciler{Config: c.NamespacedCloudProfile},
		&inuse.Reconciler{Protection: inuse.NamespacedCloudProfiles(), Config: c.NamespacedCloudProfile},
		&cloudprofile.Reconciler{Config: c.CloudProfile},
		&inuse.Reconciler{Protection: inuse.CloudProfiles(), Config: c.CloudProfile},
		&inuse.Reconciler{Protection: inuse.ExposureClasses(), Config: c.ExposureClass},
		&inuse.Reconciler{Protection: inuse.Quotas(), Config: c.Quota},
		&inuse.Reconciler{Protection: binding.Protection(binding.Secret()), Config: c.SecretBinding},
		&inuse.Reconciler{Protection: binding.Protection(binding.Credentials()), Config: c.CredentialsBinding},
		&inuse.Reconciler{Protection: inuse.ControllerDeployments(), Config: c.ControllerDeployment},
		&inuse.Reconciler{Protection: inuse.ControllerRegistrations(), Config: c.ControllerRegistration},
		&inuse.Reconciler{Protection: inuse.Seeds(), Config: c.Seed.ConcurrencyConfiguration},
		&inuse.Reconciler{Protection: inuse.SelfHostedShoots(), Config: c.ControllerRegistration},
		&scheduler.Reconciler{Config: config.Scheduler},
	}
}
