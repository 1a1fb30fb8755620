// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Values of AnnotationOperation.
const (
	// OperationReconcile runs one ordinary reconciliation.
	OperationReconcile = "reconcile"
	// OperationRetry starts a failed operation of a shoot again.
	OperationRetry = "retry"
	// OperationMaintain runs the maintenance of a shoot at once.
	OperationMaintain = "maintain"
	// OperationMigrate prepares an extension object or backup entry for another seed.
	OperationMigrate = "migrate"
	// OperationRestore rebuilds an extension object or backup entry on the new seed.
	OperationRestore = "restore"
	// OperationWaitForState holds the creation of an extension object until its state was written.
	OperationWaitForState = "wait-for-state"
	// OperationKeepAlive prolongs the life of a bastion by an hour.
	OperationKeepAlive = "keepalive"
	// OperationRenewKubeconfig gets the gardenlet a fresh kubeconfig for the garden.
	OperationRenewKubeconfig = "renew-kubeconfig"
	// OperationRenew gets fresh content for the secret with the gardenlet's kubeconfig when set on it.
	OperationRenew = "renew"
	// OperationForceRedeploy deploys a gardenlet again although nothing changed.
	OperationForceRedeploy = "force-redeploy"
	// OperationForceInPlaceUpdate permits a change of a shoot while an in-place update is running.
	OperationForceInPlaceUpdate = "force-in-place-update"
	// OperationRenewGardenAccessSecrets renews all tokens of a seed for access to the garden.
	OperationRenewGardenAccessSecrets = "renew-garden-access-secrets"
	// OperationRenewWorkloadIdentityTokens renews all workload identity tokens of a seed.
	OperationRenewWorkloadIdentityTokens = "renew-workload-identity-tokens"
	// OperationRotateCredentialsStart begins the rotation of every credential of a shoot.
	OperationRotateCredentialsStart = "rotate-credentials-start"
	// OperationRotateCredentialsStartWithoutWorkersRollout begins the rotation of every credential and leaves the
	// nodes to the user.
	OperationRotateCredentialsStartWithoutWorkersRollout = "rotate-credentials-start-without-workers-rollout"
	// OperationRotateCredentialsComplete finishes all rotations in two phases.
	OperationRotateCredentialsComplete = "rotate-credentials-complete"
	// OperationRotateCAStart begins the rotation of the certificate authorities.
	OperationRotateCAStart = "rotate-ca-start"
	// OperationRotateCAStartWithoutWorkersRollout begins the rotation of the certificate authorities and leaves the
	// nodes to the user.
	OperationRotateCAStartWithoutWorkersRollout = "rotate-ca-start-without-workers-rollout"
	// OperationRotateCAComplete finishes the rotation of the certificate authorities.
	OperationRotateCAComplete = "rotate-ca-complete"
	// OperationRotateServiceAccountKeyStart begins the rotation of the key that signs service account tokens.
	OperationRotateServiceAccountKeyStart = "rotate-serviceaccount-key-start"
	// OperationRotateServiceAccountKeyStartWithoutWorkersRollout begins the rotation of the key that signs service
	// account tokens and leaves the nodes to the user.
	OperationRotateServiceAccountKeyStartWithoutWorkersRollout = "rotate-serviceaccount-key-start-without-workers-rollout"
	// OperationRotateServiceAccountKeyComplete finishes the rotation of the key that signs service account tokens.
	OperationRotateServiceAccountKeyComplete = "rotate-serviceaccount-key-complete"
	// OperationRotateETCDEncryptionKey rotates the key that encrypts etcd from start to end.
	OperationRotateETCDEncryptionKey = "rotate-etcd-encryption-key"
	// OperationRotateETCDEncryptionKeyStart begins the rotation of the key that encrypts etcd; refused from
	// Kubernetes 1.34 on.
	OperationRotateETCDEncryptionKeyStart = "rotate-etcd-encryption-key-start"
	// OperationRotateETCDEncryptionKeyComplete finishes the rotation of the key that encrypts etcd; refused from
	// Kubernetes 1.34 on.
	OperationRotateETCDEncryptionKeyComplete = "rotate-etcd-encryption-key-complete"
	// OperationRotateSSHKeypair makes new SSH keys for the machines.
	OperationRotateSSHKeypair = "rotate-ssh-keypair"
	// OperationRotateObservabilityCredentials makes a new password for monitoring.
	OperationRotateObservabilityCredentials = "rotate-observability-credentials"
	// OperationPrefixRotateRolloutWorkers starts the operation that replaces the nodes of the pools named after an
	// equals sign while a rotation waits for it.
	OperationPrefixRotateRolloutWorkers = "rotate-rollout-workers"
	// OperationPrefixRolloutWorkers starts the operation that replaces the nodes of the pools named after an equals
	// sign.
	OperationPrefixRolloutWorkers = "rollout-workers"
	// OperationSeparator separates several operations in one annotation.
	OperationSeparator = ";"
)

// Values of AnnotationShootTasks.
const (
	// ShootTaskDeployInfrastructure reconciles the infrastructure.
	ShootTaskDeployInfrastructure = "deployInfrastructure"
	// ShootTaskDeployDNSRecordInternal reconciles the internal DNS record.
	ShootTaskDeployDNSRecordInternal = "deployDNSRecordInternal"
	// ShootTaskDeployDNSRecordExternal reconciles the external DNS record.
	ShootTaskDeployDNSRecordExternal = "deployDNSRecordExternal"
	// ShootTaskDeployDNSRecordIngress reconciles the DNS record of the ingress.
	ShootTaskDeployDNSRecordIngress = "deployDNSRecordIngress"
	// ShootTaskRestartControlPlanePods restarts pods of the control plane that ask for it.
	ShootTaskRestartControlPlanePods = "restartControlPlanePods"
	// ShootTaskRestartCoreAddons restarts pods of the core addons.
	ShootTaskRestartCoreAddons = "restartCoreAddons"
	// ShootTaskUpdateNodeAgentSecretName corrects the label that names the secret a node reads.
	ShootTaskUpdateNodeAgentSecretName = "updateGardenerNodeAgentSecretName"
)

// Reasons of events.
const (
	// EventReconciling says that a reconciliation started.
	EventReconciling = "Reconciling"
	// EventReconciled says that a reconciliation ended well.
	EventReconciled = "Reconciled"
	// EventReconcileError says that a reconciliation failed.
	EventReconcileError = "ReconcileError"
	// EventDeleting says that a deletion started.
	EventDeleting = "Deleting"
	// EventDeleted says that a deletion ended well.
	EventDeleted = "Deleted"
	// EventDeleteError says that a deletion failed.
	EventDeleteError = "DeleteError"
	// EventPrepareMigration says that the preparation of a migration started.
	EventPrepareMigration = "PrepareMigration"
	// EventMigrationPrepared says that a migration is prepared.
	EventMigrationPrepared = "MigrationPrepared"
	// EventMigrationPreparationFailed says that the preparation of a migration failed.
	EventMigrationPreparationFailed = "MigrationPreparationFailed"
	// EventResourceReferenced says that a deletion waits because the object is in use.
	EventResourceReferenced = "ResourceReferenced"
	// EventSchedulingSuccessful says that a seed was found.
	EventSchedulingSuccessful = "SchedulingSuccessful"
	// EventSchedulingFailed says that no seed was found.
	EventSchedulingFailed = "SchedulingFailed"
	// EventHibernationFailed says that the change which a schedule asks for was refused.
	EventHibernationFailed = "HibernationFailed"
	// EventHibernated says that a schedule put a shoot to sleep.
	EventHibernated = "Hibernated"
	// EventWokenUp says that a schedule woke a shoot up.
	EventWokenUp = "WokenUp"
	// EventMaintenanceFailed says that a maintenance could not be applied.
	EventMaintenanceFailed = "MaintenanceFailed"
	// EventMachineImageVersionMaintenance says that a maintenance changed a machine image.
	EventMachineImageVersionMaintenance = "MachineImageVersionMaintenance"
	// EventKubernetesVersionMaintenance says that a maintenance changed a Kubernetes version.
	EventKubernetesVersionMaintenance = "KubernetesVersionMaintenance"
	// EventNamespaceReconcileFailed says that the namespace of a project could not be made.
	EventNamespaceReconcileFailed = "NamespaceReconcileFailed"
	// EventNamespaceReconcileSuccessful says that the namespace of a project is there.
	EventNamespaceReconcileSuccessful = "NamespaceReconcileSuccessful"
	// EventNamespaceNotEmpty says that a project cannot go because shoots are left in it.
	EventNamespaceNotEmpty = "NamespaceNotEmpty"
	// EventNamespaceDeletionFailed says that the namespace of a project could not be deleted.
	EventNamespaceDeletionFailed = "NamespaceDeletionFailed"
	// EventNamespaceMarkedForDeletion says that the namespace of a project is being deleted.
	EventNamespaceMarkedForDeletion = "NamespaceMarkedForDeletion"
	// EventGardenletCertificateRotationFailed says that a gardenlet could not renew its certificate.
	EventGardenletCertificateRotationFailed = "GardenletCertificateRotationFailed"
	// EventShootStateIncomplete says that the state of a shoot is not saved because a part of it cannot be read.
	EventShootStateIncomplete = "ShootStateIncomplete"
	// EventShootStateTooLarge says that the state of a shoot is not saved because the garden could not store it.
	EventShootStateTooLarge = "ShootStateTooLarge"
)

// Actions of events.
const (
	// EventActionReconcile is the action of events about reconciliations.
	EventActionReconcile = "Reconcile"
	// EventActionDelete is the action of events about deletions.
	EventActionDelete = "Delete"
	// EventActionMigrate is the action of events about migrations.
	EventActionMigrate = "Migrate"
	// EventActionHealthCheck is the action of events about health checks.
	EventActionHealthCheck = "HealthCheck"
)
