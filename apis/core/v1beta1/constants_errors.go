// SPDX-License-Identifier: Apache-2.0

package v1beta1

const (
	// ErrorCodeInfraUnauthenticated says that the provider does not know the credentials.
	ErrorCodeInfraUnauthenticated ErrorCode = "ERR_INFRA_UNAUTHENTICATED"
	// ErrorCodeInfraUnauthorized says that the credentials lack permissions.
	ErrorCodeInfraUnauthorized ErrorCode = "ERR_INFRA_UNAUTHORIZED"
	// ErrorCodeInfraQuotaExceeded says that a quota at the provider is used up.
	ErrorCodeInfraQuotaExceeded ErrorCode = "ERR_INFRA_QUOTA_EXCEEDED"
	// ErrorCodeInfraRateLimitsExceeded says that the provider is asked too often; trying again helps.
	ErrorCodeInfraRateLimitsExceeded ErrorCode = "ERR_INFRA_RATE_LIMITS_EXCEEDED"
	// ErrorCodeInfraDependencies says that other resources at the provider are in the way.
	ErrorCodeInfraDependencies ErrorCode = "ERR_INFRA_DEPENDENCIES"
	// ErrorCodeRetryableInfraDependencies says that other resources at the provider are in the way for the time
	// being.
	ErrorCodeRetryableInfraDependencies ErrorCode = "ERR_RETRYABLE_INFRA_DEPENDENCIES"
	// ErrorCodeInfraResourcesDepleted says that the provider has run out of what was asked for.
	ErrorCodeInfraResourcesDepleted ErrorCode = "ERR_INFRA_RESOURCES_DEPLETED"
	// ErrorCodeCleanupClusterResources says that resources inside the cluster could not be removed.
	ErrorCodeCleanupClusterResources ErrorCode = "ERR_CLEANUP_CLUSTER_RESOURCES"
	// ErrorCodeConfigurationProblem says that the user's configuration is wrong.
	ErrorCodeConfigurationProblem ErrorCode = "ERR_CONFIGURATION_PROBLEM"
	// ErrorCodeRetryableConfigurationProblem says that something is wrong with the configuration that may mend
	// itself.
	ErrorCodeRetryableConfigurationProblem ErrorCode = "ERR_RETRYABLE_CONFIGURATION_PROBLEM"
	// ErrorCodeProblematicWebhook says that a webhook of the user is in the way.
	ErrorCodeProblematicWebhook ErrorCode = "ERR_PROBLEMATIC_WEBHOOK"
)
