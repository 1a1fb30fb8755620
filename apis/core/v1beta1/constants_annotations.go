// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Annotations of garden objects that ask for something.
const (
	// AnnotationOperation asks the responsible controller for a one-off action; see the Operation constants. On
	// shoots several values are joined with OperationSeparator.
	AnnotationOperation = "gardener.cloud/operation"
	// AnnotationMaintenanceOperation holds operations of a shoot that are to be moved to AnnotationOperation in the
	// next maintenance time window.
	AnnotationMaintenanceOperation = "maintenance.gardener.cloud/operation"
	// AnnotationTimestamp holds the time of a request, so that an update is seen although the operation did not
	// change.
	AnnotationTimestamp = "gardener.cloud/timestamp"
	// AnnotationShootTasks lists further tasks for the next reconciliation of a shoot, separated by commas; see the
	// ShootTask constants.
	AnnotationShootTasks = "shoot.gardener.cloud/tasks"
	// AnnotationConfirmationDeletion must be "true" before shoots, projects and extension objects may be deleted.
	AnnotationConfirmationDeletion = "confirmation.gardener.cloud/deletion"
	// AnnotationConfirmationForceDeletion lets a shoot in deletion vanish without cleaning its infrastructure when
	// "true".
	AnnotationConfirmationForceDeletion = "confirmation.gardener.cloud/force-deletion"
	// AnnotationDeletionConfirmedBy names the subject that confirmed the deletion.
	AnnotationDeletionConfirmedBy = "deletion.gardener.cloud/confirmed-by"
)

// Annotations of shoots.
const (
	// AnnotationCreatedBy names the user who created the object; set by the server.
	AnnotationCreatedBy = "gardener.cloud/created-by"
	// AnnotationShootSyncPeriod replaces the interval between reconciliations of a shoot; 0m turns periodic ones
	// off.
	AnnotationShootSyncPeriod = "shoot.gardener.cloud/sync-period"
	// AnnotationShootIgnore makes controllers leave the shoot alone when "true".
	AnnotationShootIgnore = "shoot.gardener.cloud/ignore"
	// AnnotationShootDisableIstioTLSTermination lets traffic to the API server pass the gateway undecrypted when
	// "true".
	AnnotationShootDisableIstioTLSTermination = "shoot.gardener.cloud/disable-istio-tls-termination"
	// AnnotationShootScaleDownDisabled forbids the automatic scale-down of control plane components.
	AnnotationShootScaleDownDisabled = "alpha.control-plane.scaling.shoot.gardener.cloud/scale-down-disabled"
	// AnnotationShootHAVPN turns the highly available tunnel on or off against the default.
	AnnotationShootHAVPN = "alpha.control-plane.shoot.gardener.cloud/high-availability-vpn"
	// AnnotationShootVPNVPAUpdateDisabled stops resource updates of the tunnel's pods.
	AnnotationShootVPNVPAUpdateDisabled = "alpha.control-plane.shoot.gardener.cloud/vpn-vpa-update-disabled"
	// AnnotationShootVPNAutoMTU lets the tunnel find its packet size by itself.
	AnnotationShootVPNAutoMTU = "alpha.control-plane.shoot.gardener.cloud/vpn-auto-mtu"
	// AnnotationShootExpirationTimestamp is the RFC 3339 time at which a shoot limited by a quota is deleted.
	AnnotationShootExpirationTimestamp = "shoot.gardener.cloud/expiration-timestamp"
	// AnnotationShootNeedsRetry asks for a retry of a failed shoot in its next maintenance window when "true".
	AnnotationShootNeedsRetry = "maintenance.shoot.gardener.cloud/needs-retry-operation"
	// AnnotationShootMaintained is the RFC 3339 time at which the last maintenance began that was written to the shoot.
	AnnotationShootMaintained = "maintenance.shoot.gardener.cloud/trigger-timestamp"
	// AnnotationShootHibernationTriggered is the RFC 3339 time at which a schedule last changed whether the shoot is to sleep.
	AnnotationShootHibernationTriggered = "shoot.gardener.cloud/hibernation-trigger-timestamp"
	// AnnotationShootIgnoreAlerts silences all alerts of a shoot when "true".
	AnnotationShootIgnoreAlerts = "shoot.gardener.cloud/ignore-alerts"
	// AnnotationShootSkipCleanup skips the cleanup of resources in a shoot in deletion, load balancers and volumes
	// excepted.
	AnnotationShootSkipCleanup = "shoot.gardener.cloud/skip-cleanup"
	// AnnotationShootSkipReadiness makes a reconciliation not wait until components are ready.
	AnnotationShootSkipReadiness = "shoot.gardener.cloud/skip-readiness"
	// AnnotationShootCleanupWebhooksGrace is the time after which finalizers of webhooks are removed by force during
	// deletion.
	AnnotationShootCleanupWebhooksGrace = "shoot.gardener.cloud/cleanup-webhooks-finalize-grace-period-seconds"
	// AnnotationShootCleanupExtendedAPIsGrace is the time after which finalizers of API services and custom resource
	// definitions are removed by force during deletion.
	AnnotationShootCleanupExtendedAPIsGrace = "shoot.gardener.cloud/cleanup-extended-apis-finalize-grace-period-seconds"
	// AnnotationShootCleanupKubernetesResourcesGrace is the time after which finalizers of ordinary resources are
	// removed by force during deletion.
	AnnotationShootCleanupKubernetesResourcesGrace = "shoot.gardener.cloud/cleanup-kubernetes-resources-finalize-grace-period-seconds"
	// AnnotationShootCleanupStartTime is when the cleanup began; kept on the shoot namespace in the seed.
	AnnotationShootCleanupStartTime = "shoot.gardener.cloud/cleanup-kubernetes-resources-start-time"
	// AnnotationShootCloudConfigMaxDelay bounds the random delay before nodes apply a changed configuration; 300
	// when unset, at most 1800.
	AnnotationShootCloudConfigMaxDelay = "shoot.gardener.cloud/cloud-config-execution-max-delay-seconds"
	// AnnotationAuthenticationIssuer says how the service account issuer is published; see
	// AuthenticationIssuerManaged.
	AnnotationAuthenticationIssuer = "authentication.gardener.cloud/issuer"
	// AnnotationLiveMigrate makes the next change of the seed a live migration when "true".
	AnnotationLiveMigrate = "migration.gardener.cloud/live-migrate"
	// AnnotationAllowDistantRegions permits a live migration beyond the distance limit when "true".
	AnnotationAllowDistantRegions = "migration.gardener.cloud/allow-distant-regions"
	// AnnotationShootUID holds the UID of a shoot on its namespace in the seed; also used as a label.
	AnnotationShootUID = "shoot.gardener.cloud/uid"
	// AuthenticationIssuerManaged is the value of AnnotationAuthenticationIssuer that lets the garden publish the
	// issuer.
	AuthenticationIssuerManaged = "managed"
)

// Annotations of seeds and backups.
const (
	// AnnotationSeedEmergencyStop pauses all reconciliations of shoots on a seed.
	AnnotationSeedEmergencyStop = "shoot.gardener.cloud/emergency-stop-reconciliations"
	// AnnotationProtectFromDeletion spares a replica of a managed seed set when the set shrinks.
	AnnotationProtectFromDeletion = "seedmanagement.gardener.cloud/protect-from-deletion"
	// AnnotationGeneratedSecretNamespace is the namespace of the secret generated for a backup bucket; garden when
	// unset.
	AnnotationGeneratedSecretNamespace = "backupbucket.extensions.gardener.cloud/generated-secret-namespace"
	// AnnotationBackupEntryForceDeletion deletes a backup entry without its grace period when "true".
	AnnotationBackupEntryForceDeletion = "backupentry.core.gardener.cloud/force-deletion"
	// AnnotationBackupCreatedBy names the backup entry that wrote the backup credentials.
	AnnotationBackupCreatedBy = "backup.gardener.cloud/created-by"
)

// Annotations of projects and their namespaces.
const (
	// AnnotationProjectSkipStaleCheck keeps a project from being treated as stale; set on its namespace.
	AnnotationProjectSkipStaleCheck = "project.gardener.cloud/skip-stale-check"
	// AnnotationQuotaConfigMapsPerShoot is the number of config maps per shoot that a resource quota of a project takes into
	// account.
	AnnotationQuotaConfigMapsPerShoot = "quota.gardener.cloud/configmaps-per-shoot"
	// AnnotationQuotaSecretsPerShoot is the same for secrets.
	AnnotationQuotaSecretsPerShoot = "quota.gardener.cloud/secrets-per-shoot"
	// AnnotationNamespaceProject is the UID of the project that owns the namespace.
	AnnotationNamespaceProject = "namespace.gardener.cloud/project"
	// AnnotationNamespaceKeepAfterProjectDeletion lets the namespace survive its project.
	AnnotationNamespaceKeepAfterProjectDeletion = "namespace.gardener.cloud/keep-after-project-deletion"
	// AnnotationNamespaceCreatedByProjectController marks a namespace that was created for a project.
	AnnotationNamespaceCreatedByProjectController = "namespace.gardener.cloud/created-by-project-controller"
)

// Annotations of other objects.
const (
	// AnnotationDescription is free text about an object.
	AnnotationDescription = "gardener.cloud/description"
	// AnnotationWarning is a warning about an object.
	AnnotationWarning = "gardener.cloud/warning"
	// AnnotationGenericTokenKubeconfigName names the secret with the generic kubeconfig; set on Cluster objects.
	AnnotationGenericTokenKubeconfigName = "generic-token-kubeconfig.secret.gardener.cloud/name"
	// AnnotationPodSecurityEnforce is the pod security level of an extension's namespace; set on registrations and
	// installations.
	AnnotationPodSecurityEnforce = "security.gardener.cloud/pod-security-enforce"
	// AnnotationExtensionServiceAccountSelector selects the service accounts of extensions that a cluster role in
	// the garden is bound to.
	AnnotationExtensionServiceAccountSelector = "authorization.gardener.cloud/extensions-serviceaccount-selector"
	// AnnotationSchedulingCloudProfiles lists the cloud profiles that a config map of region distances applies to,
	// separated by commas.
	AnnotationSchedulingCloudProfiles = "scheduling.gardener.cloud/cloudprofiles"
	// AnnotationInterRegionDistanceThreshold is the greatest distance of a live migration; set on a config map of
	// region distances.
	AnnotationInterRegionDistanceThreshold = "migration.gardener.cloud/inter-region-distance-threshold"
	// AnnotationStaticManifestsShootSelector selects the shoots that get the manifests of a secret.
	AnnotationStaticManifestsShootSelector = "static-manifests.shoot.gardener.cloud/selector"
	// AnnotationVPADownscaleRestriction says when a vertical pod autoscaler may shrink pods:
	// in-maintenance-window-only or never.
	AnnotationVPADownscaleRestriction = "eviction-requirements.autoscaling.gardener.cloud/downscale-restriction"
	// VPADownscaleNever and VPADownscaleInMaintenanceWindowOnly are its values.
	VPADownscaleNever                   = "never"
	VPADownscaleInMaintenanceWindowOnly = "in-maintenance-window-only"
	// AnnotationVPAMaintenanceWindow is the begin and end of the maintenance window; set on vertical pod
	// autoscalers.
	AnnotationVPAMaintenanceWindow = "shoot.gardener.cloud/maintenance-window"
	// AnnotationPrefixWaitForCSINode starts the annotations of pods that name a storage driver which a node needs
	// before it takes workload.
	AnnotationPrefixWaitForCSINode = "node.gardener.cloud/wait-for-csi-node-"
	// AnnotationDNSProvider is the provider type of a domain; set on domain secrets.
	AnnotationDNSProvider = "dns.gardener.cloud/provider"
	// AnnotationDNSDomain is the domain of a domain secret.
	AnnotationDNSDomain = "dns.gardener.cloud/domain"
	// AnnotationDNSZone is the hosted zone of a domain secret.
	AnnotationDNSZone = "dns.gardener.cloud/zone"
	// AnnotationDNSDefaultPriority orders several default domains.
	AnnotationDNSDefaultPriority = "dns.gardener.cloud/domain-default-priority"
	// AnnotationDNSIPStack lists the IP families of the target of a DNS record.
	AnnotationDNSIPStack = "dns.gardener.cloud/ip-stack"
	// AnnotationRestartedAt is changed on a pod template to restart its pods.
	AnnotationRestartedAt = "gardener.cloud/restarted-at"
	// AnnotationPrefixReference starts the annotations that name a secret or config map in use, so that it is not
	// collected as garbage.
	AnnotationPrefixReference = "reference.resources.gardener.cloud/"
	// AnnotationMigrationControllerDeploymentType keeps the type of a controller deployment of the older version.
	AnnotationMigrationControllerDeploymentType = "migration.controllerdeployment.gardener.cloud/type"
	// AnnotationMigrationControllerDeploymentProviderConfig keeps the provider config of a controller deployment of
	// the older version.
	AnnotationMigrationControllerDeploymentProviderConfig = "migration.controllerdeployment.gardener.cloud/providerConfig"
	// AnnotationMigrationControllerDeploymentResources keeps the resource references of a controller deployment of the
	// newer version. It is our own.
	AnnotationMigrationControllerDeploymentResources = "migration.controllerdeployment.gardener.cloud/resources"
	// AnnotationNodeAgentReconciliationDelay is how long a node waits before it applies a changed configuration.
	AnnotationNodeAgentReconciliationDelay = "node-agent.gardener.cloud/reconciliation-delay"
	// AnnotationRestartSystemdServices lists units that are to be restarted on a node, separated by commas.
	AnnotationRestartSystemdServices = "worker.gardener.cloud/restart-systemd-services"
	// AnnotationDefragmentationSchedule of the StatefulSet of an etcd says when it is defragmented, as a cron expression in UTC. It is our own.
	AnnotationDefragmentationSchedule = "etcd.terrarium.garden/defragmentation-schedule"
	// AnnotationETCDClientCertificate and AnnotationETCDAuthority of such a StatefulSet name the Secrets with the certificate of clients of the
	// etcd, and with the authorities that verify its own. They are our own.
	AnnotationETCDClientCertificate = "etcd.terrarium.garden/client-certificate"
	AnnotationETCDAuthority         = "etcd.terrarium.garden/authority"
	// AnnotationProjectCreatedFor of a Project names the user for whom a service account has created it, or ProjectCreatedApart. It is our own, and
	// only the server writes it.
	AnnotationProjectCreatedFor = "project.terrarium.garden/created-for"
	// AnnotationShootStateNamespace of a ShootState is the UID of the namespace of the control plane that was saved last. It is our own.
	AnnotationShootStateNamespace = "shootstate.terrarium.garden/namespace-uid"
	// AnnotationChecksumDataScript is the checksum of the configuration that a node downloaded.
	AnnotationChecksumDataScript = "checksum/data-script"
	// AnnotationChecksumCloudConfigData is the checksum of the configuration that a node applied.
	AnnotationChecksumCloudConfigData = "checksum/cloud-config-data"
)
