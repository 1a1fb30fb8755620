// SPDX-License-Identifier: Apache-2.0

package v1beta1

const (
	// ErrorCodeInfraUnauthenticated stands for ERR_INFRA_UNAUTHENTICATED.
	ErrorCodeInfraUnauthenticated ErrorCode = "ERR_INFRA_UNAUTHENTICATED"
	// ErrorCodeInfraUnauthorized stands for ERR_INFRA_UNAUTHORIZED.
	ErrorCodeInfraUnauthorized ErrorCode = "ERR_INFRA_UNAUTHORIZED"
	// ErrorCodeInfraQuotaExceeded stands for ERR_INFRA_QUOTA_EXCEEDED.
	ErrorCodeInfraQuotaExceeded ErrorCode = "ERR_INFRA_QUOTA_EXCEEDED"
	// ErrorCodeInfraRateLimitsExceeded stands for ERR_INFRA_RATE_LIMITS_EXCEEDED.
	ErrorCodeInfraRateLimitsExceeded ErrorCode = "ERR_INFRA_RATE_LIMITS_EXCEEDED"
	// ErrorCodeInfraDependencies stands for ERR_INFRA_DEPENDENCIES.
	ErrorCodeInfraDependencies ErrorCode = "ERR_INFRA_DEPENDENCIES"
	// ErrorCodeRetryableInfraDependencies stands for ERR_RETRYABLE_INFRA_DEPENDENCIES.
	ErrorCodeRetryableInfraDependencies ErrorCode = "ERR_RETRYABLE_INFRA_DEPENDENCIES"
	// ErrorCodeInfraResourcesDepleted stands for ERR_INFRA_RESOURCES_DEPLETED.
	ErrorCodeInfraResourcesDepleted ErrorCode = "ERR_INFRA_RESOURCES_DEPLETED"
	// ErrorCodeCleanupClusterResources stands for ERR_CLEANUP_CLUSTER_RESOURCES.
	ErrorCodeCleanupClusterResources ErrorCode = "ERR_CLEANUP_CLUSTER_RESOURCES"
	// ErrorCodeConfigurationProblem stands for ERR_CONFIGURATION_PROBLEM.
	ErrorCodeConfigurationProblem ErrorCode = "ERR_CONFIGURATION_PROBLEM"
	// ErrorCodeRetryableConfigurationProblem stands for ERR_RETRYABLE_CONFIGURATION_PROBLEM.
	ErrorCodeRetryableConfigurationProblem ErrorCode = "ERR_RETRYABLE_CONFIGURATION_PROBLEM"
	// ErrorCodeProblematicWebhook stands for ERR_PROBLEMATIC_WEBHOOK.
	ErrorCodeProblematicWebhook ErrorCode = "ERR_PROBLEMATIC_WEBHOOK"
)
