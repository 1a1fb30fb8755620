// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ServerConfiguration is the configuration file of the garden's server. Every field can also be given as a flag, which takes
// precedence.
type ServerConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	// DataDir is the directory of the server's persistent data. Defaults to /var/lib/terrarium.
	// +optional
	DataDir string `json:"dataDir,omitempty"`
	// Listen is the address and port of the API. Defaults to :6443.
	// +optional
	Listen string `json:"listen,omitempty"`
	// ExternalAddresses are the host names and IP addresses under which clients and gardenlets reach the server; the serving
	// certificate names them. The first one is used in kubeconfigs and join commands. Determined from the machine when empty.
	// +optional
	ExternalAddresses []string `json:"externalAddresses,omitempty"`
	// Datastore says where objects are kept.
	// +optional
	Datastore DatastoreConfiguration `json:"datastore,omitempty"`
	// Memory says how much memory the server uses.
	// +optional
	Memory MemoryConfiguration `json:"memory,omitempty"`
	// LogLevel is one of debug, info and error. Defaults to info.
	// +optional
	LogLevel string `json:"logLevel,omitempty"`
	// LogFormat is text or json. Defaults to text.
	// +optional
	LogFormat string `json:"logFormat,omitempty"`
	// EventTTL is how long events are kept, at most 7 days. Defaults to 1h.
	// +optional
	EventTTL *metav1.Duration `json:"eventTTL,omitempty"`
	// Timeline says how much of what happened to shoots, seeds, backup entries and managed seeds is kept.
	// +optional
	Timeline TimelineConfiguration `json:"timeline,omitempty"`
	// Snapshots says how the garden is saved.
	// +optional
	Snapshots SnapshotConfiguration `json:"snapshots,omitempty"`
	// Upgrade says what is done at the first start of a newer version.
	// +optional
	Upgrade UpgradeConfiguration `json:"upgrade,omitempty"`
	// Audit says what is recorded about who did what, and how much of it is kept.
	// +optional
	Audit AuditConfiguration `json:"audit,omitempty"`
	// Tokens limits join tokens and tokens of service accounts.
	// +optional
	Tokens TokenConfiguration `json:"tokens,omitempty"`
	// Projects says who can create projects.
	// +optional
	Projects ProjectConfiguration `json:"projects,omitempty"`
	// Certificates limits the certificates that the server signs.
	// +optional
	Certificates CertificateConfiguration `json:"certificates,omitempty"`
	// Controllers configures each controller of the garden.
	// +optional
	Controllers ServerControllerConfiguration `json:"controllers,omitempty"`
	// Shoots says what the API does for the users of shoots.
	// +optional
	Shoots ShootConfiguration `json:"shoots,omitempty"`
	// Scheduler says how a seed is chosen for a shoot.
	// +optional
	Scheduler SchedulerConfiguration `json:"scheduler,omitempty"`
	// Admission says which admission plugins are enabled, and configures them.
	// +optional
	Admission AdmissionConfiguration `json:"admission,omitempty"`
	// WorkloadIdentity configures the tokens of workload identities.
	// +optional
	WorkloadIdentity WorkloadIdentityConfiguration `json:"workloadIdentity,omitempty"`
	// OIDC is an issuer of identity tokens that people sign in with, to the web UI and the API.
	// +optional
	OIDC *OIDCConfiguration `json:"oidc,omitempty"`
	// EnableDebugHandlers serves /debug/resource-dependency-graph, which shows administrators which objects belong to which
	// seed.
	// +optional
	EnableDebugHandlers bool `json:"enableDebugHandlers,omitempty"`
}

// DatastoreConfiguration says where objects are kept.
type DatastoreConfiguration struct {
	// Endpoint is the URL of a database or etcd; empty means SQLite in the data directory. Examples:
	// postgres://user:password@host:5432/garden, mysql://user:password@tcp(host:3306)/garden,
	// https://host1:2379,https://host2:2379 for etcd.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// CAFile is the path of the CA certificates that verify the datastore. By default, those of the system do.
	// +optional
	CAFile string `json:"caFile,omitempty"`
	// CertFile and KeyFile are the paths of a client certificate for the datastore and of its key.
	// +optional
	CertFile string `json:"certFile,omitempty"`
	// +optional
	KeyFile string `json:"keyFile,omitempty"`
	// AdvertiseAddress is the address, with a port if it is not that of listen, at which other servers on the same datastore reach this
	// one. Defaults to the address from which this server reaches the datastore.
	// +optional
	AdvertiseAddress string `json:"advertiseAddress,omitempty"`
}

// MemoryConfiguration says how much memory the server uses.
type MemoryConfiguration struct {
	// Limit is a soft limit of the server's memory: garbage is collected more often as usage comes close, and the sizes of
	// caches depend on it. At least 256Mi. Defaults to half of the memory of the machine, or of
	// what its container or unit may have (MemoryMax= of systemd).
	// +optional
	Limit *resource.Quantity `json:"limit,omitempty"`
}

// TimelineConfiguration says how much of what happened is kept. Beyond MaxSize, the oldest entries of those who use most are removed.
type TimelineConfiguration struct {
	// Keep is how long entries are kept, at least 1h. Defaults to 720h, which is 30 days.
	// +optional
	Keep *metav1.Duration `json:"keep,omitempty"`
	// MaxSize is how much of the disk entries use, at least 16Mi. Defaults to 256Mi.
	// +optional
	MaxSize *resource.Quantity `json:"maxSize,omitempty"`
}

// AuditConfiguration says what the audit log records. It is in the directory audit of the data directory.
type AuditConfiguration struct {
	// Disabled turns the audit log off.
	// +optional
	Disabled bool `json:"disabled,omitempty"`
	// PolicyFile is the path of a policy of kind Policy in audit.k8s.io/v1. By default, changes and accesses to credentials are
	// recorded, without bodies. Bodies of Secrets and other credentials are never recorded.
	// +optional
	PolicyFile string `json:"policyFile,omitempty"`
	// MaxAge is how long events are kept, at least 1h. Defaults to 720h, which is 30 days.
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
	// MaxSize is how much of the disk events use, at least 16Mi. Defaults to 256Mi.
	// +optional
	MaxSize *resource.Quantity `json:"maxSize,omitempty"`
}

// TokenConfiguration limits join tokens and tokens of service accounts.
type TokenConfiguration struct {
	// DefaultLifetime is how long a join token is valid by default, between 10m and 24h.
	// Defaults to 1h.
	// +optional
	DefaultLifetime *metav1.Duration `json:"defaultLifetime,omitempty"`
	// MaxServiceAccountTokenLifetime is the longest validity of requested tokens of service accounts, at least 1h; longer
	// requests are shortened. Defaults to 2160h, which is 90 days.
	// +optional
	MaxServiceAccountTokenLifetime *metav1.Duration `json:"maxServiceAccountTokenLifetime,omitempty"`
}

// ProjectConfiguration says who can create projects.
type ProjectConfiguration struct {
	// RestrictCreation restricts the creation of projects to users to whom operators bind the ClusterRole
	// gardener.cloud:system:project-creation. By default, all authenticated users can create projects.
	// +optional
	RestrictCreation bool `json:"restrictCreation,omitempty"`
	// MaxPerUser is how many projects a user can create who has no permission exceed-limit on projects; 0 is no limit. The service
	// accounts in all projects of a user can together create as many again. Defaults to 100.
	// +optional
	MaxPerUser *int `json:"maxPerUser,omitempty"`
}

// CertificateConfiguration limits the certificates that the server signs.
type CertificateConfiguration struct {
	// ClientLifetime is the longest validity of client certificates signed on request, such as those of gardenlets.
	// Defaults to 8760h, a year.
	// +optional
	ClientLifetime *metav1.Duration `json:"clientLifetime,omitempty"`
}

// SchedulerConfiguration says how a seed is chosen for a shoot. Four shoots are in work for each of ConcurrentSyncs.
type SchedulerConfiguration struct {
	ConcurrencyConfiguration `json:",inline"`

	// CandidateDeterminationStrategy narrows the usable seeds by their region. Defaults to SameRegion, which is called Default in files for
	// older releases of Gardener.
	// +optional
	CandidateDeterminationStrategy CandidateDeterminationStrategy `json:"candidateDeterminationStrategy,omitempty"`
}

// CandidateDeterminationStrategy narrows the seeds for a shoot by their region.
type CandidateDeterminationStrategy string

const (
	// CandidateDeterminationStrategySameRegion takes only seeds in the region of the shoot.
	CandidateDeterminationStrategySameRegion CandidateDeterminationStrategy = "SameRegion"
	// CandidateDeterminationStrategyMinimalDistance takes the seeds whose region is nearest to that of the shoot.
	CandidateDeterminationStrategyMinimalDistance CandidateDeterminationStrategy = "MinimalDistance"

	// candidateDeterminationStrategyDefault is what older releases of Gardener call SameRegion (SCHED-PROC-3).
	candidateDeterminationStrategyDefault CandidateDeterminationStrategy = "Default"
)
