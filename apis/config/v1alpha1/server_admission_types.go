// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// AdmissionConfiguration says which admission plugins are enabled, and configures them.
type AdmissionConfiguration struct {
	// Enable names plugins to enable that are disabled by default.
	// +optional
	Enable []string `json:"enable,omitempty"`
	// Disable names plugins to disable. A plugin that is also in Enable is enabled.
	// +optional
	Disable []string `json:"disable,omitempty"`
	// ResourceSize limits the size and the number of objects. By default, an object in a project has at most 512Ki; Secrets and
	// ConfigMaps have the limits of Kubernetes. An empty list disables the limits.
	// +optional
	ResourceSize *ResourceSizeConfiguration `json:"resourceSize,omitempty"`
	// ShootTolerationRestriction says what shoots may tolerate beyond what their project allows.
	// +optional
	ShootTolerationRestriction *ShootTolerationConfiguration `json:"shootTolerationRestriction,omitempty"`
	// ShootDNSRewriting configures the plugin of that name, which has to be enabled.
	// +optional
	ShootDNSRewriting *ShootDNSRewritingConfiguration `json:"shootDNSRewriting,omitempty"`
	// ShootResourceReservation says what is reserved on worker nodes for Kubernetes itself.
	// +optional
	ShootResourceReservation *ShootResourceReservationConfiguration `json:"shootResourceReservation,omitempty"`
}

// ResourceSizeConfiguration limits the size and the number of objects.
type ResourceSizeConfiguration struct {
	// Limits are tried in order; the first one that names the resource of a request applies.
	Limits []ResourceLimit `json:"limits"`
	// UnrestrictedSubjects are users, groups and service accounts without limits. The name * means all of their kind.
	// +optional
	UnrestrictedSubjects []rbacv1.Subject `json:"unrestrictedSubjects,omitempty"`
	// OperationMode is block, or log to allow and log requests above a limit. Defaults to block.
	// +optional
	OperationMode ResourceSizeMode `json:"operationMode,omitempty"`
}

// ResourceLimit limits the objects of some resources. The name * means every group, version or resource.
type ResourceLimit struct {
	// APIGroups are groups, such as core.gardener.cloud.
	APIGroups []string `json:"apiGroups"`
	// APIVersions are versions, such as v1beta1.
	APIVersions []string `json:"apiVersions"`
	// Resources are resources in the plural, such as shoots.
	Resources []string `json:"resources"`
	// Size is the maximum size of an object in JSON, without its status and its managed fields. Each label, annotation and key of a ConfigMap or
	// Secret after the first 100 counts as 96 bytes more, in TotalSize too.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Count is the maximum number of objects of a cluster-scoped resource.
	// +optional
	Count *int64 `json:"count,omitempty"`
	// TotalSize is the maximum size of all Secrets of a namespace, per namespace, with their metadata and without their managed fields; it is
	// for the resource secrets only. Secrets of up to 16Ki are always allowed, because a quota limits their number.
	// +optional
	TotalSize *resource.Quantity `json:"totalSize,omitempty"`
}

// ResourceSizeMode says what happens to a request above a limit.
type ResourceSizeMode string

const (
	// ResourceSizeModeBlock rejects it.
	ResourceSizeModeBlock ResourceSizeMode = "block"
	// ResourceSizeModeLog allows and logs it.
	ResourceSizeModeLog ResourceSizeMode = "log"
)

// ShootTolerationConfiguration says what shoots may tolerate.
type ShootTolerationConfiguration struct {
	// Defaults are added to each new shoot without tolerations of the same keys.
	// +optional
	Defaults []gardencorev1beta1.Toleration `json:"defaults,omitempty"`
	// Whitelist lists the tolerations that every shoot may have. An entry without a value allows all values of its key.
	// +optional
	Whitelist []gardencorev1beta1.Toleration `json:"whitelist,omitempty"`
}

// ShootDNSRewritingConfiguration says which names pods may resolve without the search domains of their cluster.
type ShootDNSRewritingConfiguration struct {
	// CommonSuffixes are added to those of each new shoot.
	// +optional
	CommonSuffixes []string `json:"commonSuffixes,omitempty"`
}

// ShootResourceReservationConfiguration says what is reserved on worker nodes for Kubernetes itself.
type ShootResourceReservationConfiguration struct {
	// UseGKEFormula reserves resources in relation to the size of the machine instead of the same amount on each.
	// +optional
	UseGKEFormula bool `json:"useGKEFormula,omitempty"`
	// Selector limits the formula to shoots with some labels; it applies to all shoots when unset.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}
