// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LeaderElectionConfiguration configures the leader election among several replicas.
type LeaderElectionConfiguration struct {
	// LeaderElect enables the election. Defaults to true.
	LeaderElect *bool `json:"leaderElect"`
	// LeaseDuration is how long other replicas wait before they take over. Defaults to 15s.
	LeaseDuration metav1.Duration `json:"leaseDuration"`
	// RenewDeadline is how long the leader tries to renew before it gives up. Defaults to 10s.
	RenewDeadline metav1.Duration `json:"renewDeadline"`
	// RetryPeriod is the time between two tries. Defaults to 2s.
	RetryPeriod metav1.Duration `json:"retryPeriod"`
	// ResourceLock is the kind of object that is locked. Defaults to leases.
	ResourceLock string `json:"resourceLock"`
	// ResourceName is the name of that object. Defaults to gardenlet-leader-election.
	ResourceName string `json:"resourceName"`
	// ResourceNamespace is the namespace of that object. Defaults to garden.
	ResourceNamespace string `json:"resourceNamespace"`
}

// EndpointsConfiguration says where a process serves health checks and metrics.
type EndpointsConfiguration struct {
	// HealthProbes serves liveness and readiness. Defaults to port 2728.
	// +optional
	HealthProbes *Endpoint `json:"healthProbes,omitempty"`
	// Metrics serves metrics. Defaults to port 2729.
	// +optional
	Metrics *Endpoint `json:"metrics,omitempty"`
}

// Endpoint is an address to listen on.
type Endpoint struct {
	// BindAddress is the IP address; all addresses when empty.
	BindAddress string `json:"bindAddress"`
	// Port is the port.
	Port int `json:"port"`
}

// DebuggingConfiguration enables profiling.
type DebuggingConfiguration struct {
	// EnableProfiling serves profiles at the metrics endpoint.
	// +optional
	EnableProfiling *bool `json:"enableProfiling,omitempty"`
	// EnableContentionProfiling records contention for locks as well.
	// +optional
	EnableContentionProfiling *bool `json:"enableContentionProfiling,omitempty"`
}
