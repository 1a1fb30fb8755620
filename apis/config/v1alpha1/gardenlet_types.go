// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// GardenletConfiguration is the configuration file of a gardenlet.
type GardenletConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	// GardenClientConnection says how the gardenlet reaches the garden.
	// +optional
	GardenClientConnection *GardenClientConnection `json:"gardenClientConnection,omitempty"`
	// SeedClientConnection says how the gardenlet reaches its seed.
	// +optional
	SeedClientConnection *SeedClientConnection `json:"seedClientConnection,omitempty"`
	// ShootClientConnection says how the gardenlet reaches the shoots on its seed.
	// +optional
	ShootClientConnection *ShootClientConnection `json:"shootClientConnection,omitempty"`
	// Controllers sets the pace of each controller.
	// +optional
	Controllers *GardenletControllerConfiguration `json:"controllers,omitempty"`
	// Resources says how much the seed can take.
	// +optional
	Resources *ResourcesConfiguration `json:"resources,omitempty"`
	// LeaderElection configures the leader election among several replicas.
	// +optional
	LeaderElection *LeaderElectionConfiguration `json:"leaderElection,omitempty"`
	// LogLevel is one of debug, info and error. Defaults to info.
	LogLevel string `json:"logLevel"`
	// LogFormat is json or text. Defaults to json.
	LogFormat string `json:"logFormat"`
	// Server says where health and metrics are served.
	Server EndpointsConfiguration `json:"server"`
	// Debugging enables profiling.
	// +optional
	Debugging *DebuggingConfiguration `json:"debugging,omitempty"`
	// FeatureGates enables or disables features.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// SeedConfig is the Seed that the gardenlet registers and manages.
	// +optional
	SeedConfig *SeedConfig `json:"seedConfig,omitempty"`
	// Logging says which logs of the seed are collected.
	// +optional
	Logging *Logging `json:"logging,omitempty"`
	// SNI describes the gateway that leads to the API servers of shoots.
	// +optional
	SNI *SNI `json:"sni,omitempty"`
	// ETCDConfig configures the operator of etcd clusters.
	// +optional
	ETCDConfig *ETCDConfig `json:"etcdConfig,omitempty"`
	// ExposureClassHandlers are further gateways, one for each handler of exposure classes.
	// +optional
	ExposureClassHandlers []ExposureClassHandler `json:"exposureClassHandlers,omitempty"`
	// Monitoring configures the monitoring of shoots.
	// +optional
	Monitoring *MonitoringConfig `json:"monitoring,omitempty"`
	// NodeToleration says how long pods of the seed stay on an unreachable node.
	// +optional
	NodeToleration *NodeToleration `json:"nodeToleration,omitempty"`
}

// ClientConnectionConfiguration has the settings of a connection to an API server.
type ClientConnectionConfiguration struct {
	// Kubeconfig is the path of a kubeconfig; empty means the cluster that the process runs in.
	Kubeconfig string `json:"kubeconfig"`
	// AcceptContentTypes is the Accept header of requests.
	AcceptContentTypes string `json:"acceptContentTypes"`
	// ContentType is the format of request bodies.
	ContentType string `json:"contentType"`
	// QPS is the average number of requests per second. Defaults to 50.
	QPS float32 `json:"qps"`
	// Burst is the number of requests at once. Defaults to 100.
	Burst int32 `json:"burst"`
}

// GardenClientConnection says how the gardenlet reaches the garden and how it gets its credentials.
type GardenClientConnection struct {
	ClientConnectionConfiguration `json:",inline"`

	// GardenClusterAddress replaces the address of the garden in requests for a kubeconfig of managed seeds and
	// extensions.
	// +optional
	GardenClusterAddress *string `json:"gardenClusterAddress,omitempty"`
	// BootstrapKubeconfig names the Secret in the seed with the kubeconfig for joining.
	// +optional
	BootstrapKubeconfig *corev1.SecretReference `json:"bootstrapKubeconfig,omitempty"`
	// KubeconfigSecret names the Secret in the seed that keeps the gardenlet's own kubeconfig.
	// +optional
	KubeconfigSecret *corev1.SecretReference `json:"kubeconfigSecret,omitempty"`
	// KubeconfigValidity says when the certificate is renewed.
	// +optional
	KubeconfigValidity *KubeconfigValidity `json:"kubeconfigValidity,omitempty"`
}

// KubeconfigValidity says how long the certificate for the garden should be valid and when it is renewed.
type KubeconfigValidity struct {
	// Validity is the lifetime that the gardenlet requests; the server decides when unset. At least ten minutes.
	// +optional
	Validity *metav1.Duration `json:"validity,omitempty"`
	// AutoRotationJitterPercentageMin is the share of the lifetime before which the certificate is not renewed.
	// Defaults to 70.
	// +optional
	AutoRotationJitterPercentageMin *int32 `json:"autoRotationJitterPercentageMin,omitempty"`
	// AutoRotationJitterPercentageMax is the share of the lifetime at which the certificate is renewed at the
	// latest. Defaults to 90.
	// +optional
	AutoRotationJitterPercentageMax *int32 `json:"autoRotationJitterPercentageMax,omitempty"`
}

// SeedClientConnection says how the gardenlet reaches its seed.
type SeedClientConnection struct {
	ClientConnectionConfiguration `json:",inline"`
}

// ShootClientConnection says how the gardenlet reaches the shoots on its seed.
type ShootClientConnection struct {
	ClientConnectionConfiguration `json:",inline"`
}

// ResourcesConfiguration says how much the seed can take, by resource, for instance shoots.
type ResourcesConfiguration struct {
	// Capacity is the total amount.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Reserved is the part that is reserved; capacity minus reserved can be allocated.
	// +optional
	Reserved corev1.ResourceList `json:"reserved,omitempty"`
}

// SeedConfig is the Seed object as the gardenlet registers it.
type SeedConfig struct {
	gardencorev1beta1.SeedTemplate `json:",inline"`
}

// NodeToleration says how long pods of the seed stay on an unreachable node.
type NodeToleration struct {
	// DefaultNotReadyTolerationSeconds is the time in seconds on a node that is not ready.
	// +optional
	DefaultNotReadyTolerationSeconds *int64 `json:"defaultNotReadyTolerationSeconds,omitempty"`
	// DefaultUnreachableTolerationSeconds is the time in seconds on a node that cannot be reached.
	// +optional
	DefaultUnreachableTolerationSeconds *int64 `json:"defaultUnreachableTolerationSeconds,omitempty"`
}
