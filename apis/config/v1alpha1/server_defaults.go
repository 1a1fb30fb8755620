// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	defaultDataDir = "/var/lib/terrarium"
	defaultListen  = ":6443"

	defaultMinTokenLifetime = time.Hour
	defaultMaxTokenLifetime = 48 * time.Hour
)

// SetDefaults fills every field that was left out and has a default.
func (c *ServerConfiguration) SetDefaults() {
	setZero(&c.DataDir, defaultDataDir)
	setZero(&c.Listen, defaultListen)
	setZero(&c.LogLevel, defaultLogLevel)
	setZero(&c.LogFormat, "text")
	setDuration(&c.Tokens.DefaultLifetime, time.Hour)
	setDuration(&c.Certificates.ClientLifetime, 365*24*time.Hour)
	c.Controllers.setDefaults()
	c.Shoots.setDefaults()
	c.WorkloadIdentity.setDefaults()
	setDefault(&c.Scheduler.ConcurrentSyncs, 5)
	setZero(&c.Scheduler.CandidateDeterminationStrategy, CandidateDeterminationStrategySameRegion)
	if size := c.Admission.ResourceSize; size != nil {
		setZero(&size.OperationMode, ResourceSizeModeBlock)
		for i := range size.UnrestrictedSubjects {
			setSubject(&size.UnrestrictedSubjects[i])
		}
	}
}

// setSubject fills in the API group of users and groups (GAC-SIZE-5).
func setSubject(s *rbacv1.Subject) {
	if s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
		setZero(&s.APIGroup, rbacv1.GroupName)
	}
}

func (c *ServerControllerConfiguration) setDefaults() {
	const workers = 5

	for _, controller := range []*ConcurrencyConfiguration{
		&c.CertificateSigningRequest, &c.CloudProfile, &c.ControllerDeployment, &c.ControllerRegistration, &c.CredentialsBinding,
		&c.ExposureClass, &c.ManagedSeedSet, &c.NamespacedCloudProfile, &c.Quota, &c.SecretBinding, &c.ShootReference, &c.ShootStatusLabel,
	} {
		setDefault(&controller.ConcurrentSyncs, workers)
	}
	for _, check := range []*ServerSeedCheckConfiguration{&c.SeedBackupBucketsCheck, &c.SeedExtensionsCheck} {
		setDefault(&check.ConcurrentSyncs, workers)
		setDuration(&check.SyncPeriod, 30*time.Second)
	}

	setDefault(&c.Project.ConcurrentSyncs, workers)
	setDefault(&c.Seed.ConcurrentSyncs, workers)
	setDuration(&c.Seed.MonitorPeriod, 40*time.Second)
	setDuration(&c.Seed.ShootMonitorPeriod, 200*time.Second)
	setDuration(&c.Seed.SyncPeriod, 10*time.Second)
}
