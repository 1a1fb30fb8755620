// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Logging says which logs of the seed are collected.
type Logging struct {
	// Enabled enables the collection of logs. Defaults to false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Vali configures the older store of logs.
	// +optional
	Vali *Vali `json:"vali,omitempty"`
	// VictoriaLogs configures the newer store of logs.
	// +optional
	VictoriaLogs *VictoriaLogs `json:"victoriaLogs,omitempty"`
	// ShootNodeLogging says for which shoots logs of machines are collected.
	// +optional
	ShootNodeLogging *ShootNodeLogging `json:"shootNodeLogging,omitempty"`
	// ShootEventLogging says whether events of shoots are collected.
	// +optional
	ShootEventLogging *ShootEventLogging `json:"shootEventLogging,omitempty"`
}

// Vali configures the older store of logs.
type Vali struct {
	// Enabled enables the store. Defaults to the value for all of logging.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Garden configures the store in the namespace garden.
	// +optional
	Garden *GardenVali `json:"garden,omitempty"`
}

// GardenVali configures the older store of logs in the namespace garden.
type GardenVali struct {
	// Storage is the size of its volume. Defaults to 100Gi.
	// +optional
	Storage *resource.Quantity `json:"storage,omitempty"`
}

// VictoriaLogs configures the newer store of logs.
type VictoriaLogs struct {
	// Enabled enables the store. Defaults to the value for all of logging.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Garden configures the store in the namespace garden.
	// +optional
	Garden *GardenVictoriaLogs `json:"garden,omitempty"`
}

// GardenVictoriaLogs configures the newer store of logs in the namespace garden.
type GardenVictoriaLogs struct {
	// Storage is the size of its volume. Defaults to 100Gi.
	// +optional
	Storage *resource.Quantity `json:"storage,omitempty"`
}

// ShootNodeLogging says for which shoots logs of machines are collected.
type ShootNodeLogging struct {
	// ShootPurposes are the purposes of those shoots.
	// +optional
	ShootPurposes []gardencorev1beta1.ShootPurpose `json:"shootPurposes,omitempty"`
}

// ShootEventLogging says whether events of shoots are collected.
type ShootEventLogging struct {
	// Enabled enables the collection. Defaults to the value for all of logging.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// SNI describes a gateway that routes to API servers by the server name that clients send.
type SNI struct {
	// Ingress describes the gateway's Service.
	// +optional
	Ingress *SNIIngress `json:"ingress,omitempty"`
}

// SNIIngress describes the Service of a gateway.
type SNIIngress struct {
	// ServiceName is the name of the Service. Defaults to istio-ingressgateway.
	// +optional
	ServiceName *string `json:"serviceName,omitempty"`
	// ServiceExternalIP is a fixed address of the Service.
	// +optional
	ServiceExternalIP *string `json:"serviceExternalIP,omitempty"`
	// Namespace is where the gateway runs. Defaults to istio-ingress, or for an exposure class to
	// istio-ingress-handler- and the handler.
	// +optional
	Namespace *string `json:"namespace,omitempty"`
	// Labels select the pods of the gateway.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// ETCDConfig configures the operator of etcd clusters.
type ETCDConfig struct {
	// ETCDController configures the controller of etcd clusters.
	// +optional
	ETCDController *ETCDController `json:"etcdController,omitempty"`
	// CustodianController configures the controller that watches over etcd clusters.
	// +optional
	CustodianController *CustodianController `json:"custodianController,omitempty"`
	// BackupCompactionController configures the compaction of backups.
	// +optional
	BackupCompactionController *BackupCompactionController `json:"backupCompactionController,omitempty"`
	// BackupLeaderElection configures the election among backup sidecars.
	// +optional
	BackupLeaderElection *ETCDBackupLeaderElection `json:"backupLeaderElection,omitempty"`
	// FeatureGates enables or disables features of the operator.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// DeltaSnapshotRetentionPeriod is how long delta snapshots are kept.
	// +optional
	DeltaSnapshotRetentionPeriod *metav1.Duration `json:"deltaSnapshotRetentionPeriod,omitempty"`
}

// ETCDController configures the controller of etcd clusters.
type ETCDController struct {
	// Workers is the number of workers. Defaults to 50.
	// +optional
	Workers *int64 `json:"workers,omitempty"`
}

// CustodianController configures the controller that watches over etcd clusters.
type CustodianController struct {
	// Workers is the number of workers. Defaults to 10.
	// +optional
	Workers *int64 `json:"workers,omitempty"`
}

// BackupCompactionController configures the compaction of backups.
type BackupCompactionController struct {
	// Workers is the number of workers. Defaults to 3.
	// +optional
	Workers *int64 `json:"workers,omitempty"`
	// EnableBackupCompaction enables the compaction. Defaults to false.
	// +optional
	EnableBackupCompaction *bool `json:"enableBackupCompaction,omitempty"`
	// EventsThreshold is the number of events after which backups are compacted. Defaults to 1000000.
	// +optional
	EventsThreshold *int64 `json:"eventsThreshold,omitempty"`
	// ActiveDeadlineDuration limits one compaction.
	// +optional
	ActiveDeadlineDuration *metav1.Duration `json:"activeDeadlineDuration,omitempty"`
	// MetricsScrapeWaitDuration is how long a compaction waits for its metrics to be read. Defaults to 1m.
	// +optional
	MetricsScrapeWaitDuration *metav1.Duration `json:"metricsScrapeWaitDuration,omitempty"`
}

// ETCDBackupLeaderElection configures the election among backup sidecars.
type ETCDBackupLeaderElection struct {
	// ReelectionPeriod is the time between two checks of the leader.
	// +optional
	ReelectionPeriod *metav1.Duration `json:"reelectionPeriod,omitempty"`
	// ETCDConnectionTimeout limits the connection to etcd.
	// +optional
	ETCDConnectionTimeout *metav1.Duration `json:"etcdConnectionTimeout,omitempty"`
}

// ExposureClassHandler is a further gateway for shoots of an exposure class.
type ExposureClassHandler struct {
	// Name is the handler as exposure classes name it.
	Name string `json:"name"`
	// LoadBalancerService configures the Service of the gateway.
	LoadBalancerService LoadBalancerServiceConfig `json:"loadBalancerService"`
	// SNI describes the gateway.
	// +optional
	SNI *SNI `json:"sni,omitempty"`
}

// LoadBalancerServiceConfig configures the Service of a gateway.
type LoadBalancerServiceConfig struct {
	// Annotations are put on the Service.
	Annotations map[string]string `json:"annotations"`
	// Class is the load balancer class of the Service.
	// +optional
	Class *string `json:"class,omitempty"`
}

// MonitoringConfig configures the monitoring.
type MonitoringConfig struct {
	// Shoot configures the monitoring of shoots.
	// +optional
	Shoot *ShootMonitoringConfig `json:"shoot,omitempty"`
}

// ShootMonitoringConfig configures the monitoring of shoots.
type ShootMonitoringConfig struct {
	// Enabled enables monitoring. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// RemoteWrite also sends metrics to another receiver.
	// +optional
	RemoteWrite *RemoteWriteMonitoringConfig `json:"remoteWrite,omitempty"`
	// ExternalLabels are added to all metrics that leave the seed.
	// +optional
	ExternalLabels map[string]string `json:"externalLabels,omitempty"`
}

// RemoteWriteMonitoringConfig sends metrics to another receiver.
type RemoteWriteMonitoringConfig struct {
	// URL is the address of the receiver.
	URL string `json:"url"`
	// Keep lists the metrics that are sent; all when empty.
	// +optional
	Keep []string `json:"keep,omitempty"`
}
