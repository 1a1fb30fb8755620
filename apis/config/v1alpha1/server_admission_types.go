// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// AdmissionConfiguration says which rules judge requests, and sets those that can be set.
type AdmissionConfiguration struct {
	// Enable names rules that are asked although they are off by default.
	// +optional
	Enable []string `json:"enable,omitempty"`
	// Disable names rules that are not asked. A rule that is enabled as well is asked.
	// +optional
	Disable []string `json:"disable,omitempty"`
	// ResourceSize bounds the size and the number of objects. By default, what users keep in projects is bounded to
	// 512Ki an object, Secrets and ConfigMaps to what Kubernetes allows. An empty list of limits bounds nothing.
	// +optional
	ResourceSize *ResourceSizeConfiguration `json:"resourceSize,omitempty"`
	// ShootTolerationRestriction says what shoots may tolerate beyond what their project allows.
	// +optional
	ShootTolerationRestriction *ShootTolerationConfiguration `json:"shootTolerationRestriction,omitempty"`
	// ShootDNSRewriting sets the rule of that name, which has to be enabled.
	// +optional
	ShootDNSRewriting *ShootDNSRewritingConfiguration `json:"shootDNSRewriting,omitempty"`
	// ShootResourceReservation says what is reserved on worker nodes for Kubernetes itself.
	// +optional
	ShootResourceReservation *ShootResourceReservationConfiguration `json:"shootResourceReservation,omitempty"`
}

// ResourceSizeConfiguration bounds the size and the number of objects.
type ResourceSizeConfiguration struct {
	// Limits are tried in order; the first one that names the resource of a request counts.
	Limits []ResourceLimit `json:"limits"`
	// UnrestrictedSubjects are users, groups and service accounts that no limit counts for. The name * stands for all of
	// their kind.
	// +optional
	UnrestrictedSubjects []rbacv1.Subject `json:"unrestrictedSubjects,omitempty"`
	// OperationMode is block, or log to let requests above a limit pass with a line in the log. Defaults to block.
	// +optional
	OperationMode ResourceSizeMode `json:"operationMode,omitempty"`
}

// ResourceLimit bounds the objects of some resources. The name * stands for every group, version or resource.
type ResourceLimit struct {
	// APIGroups are groups, such as core.gardener.cloud.
	APIGroups []string `json:"apiGroups"`
	// APIVersions are versions, such as v1beta1.
	APIVersions []string `json:"apiVersions"`
	// Resources are resources in the plural, such as shoots.
	Resources []string `json:"resources"`
	// Size is how large an object may be in JSON, without its status and its managed fields.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Count is how many objects of a cluster-scoped resource there may be.
	// +optional
	Count *int64 `json:"count,omitempty"`
}

// ResourceSizeMode says what becomes of a request above a limit.
type ResourceSizeMode string

const (
	// ResourceSizeModeBlock refuses it.
	ResourceSizeModeBlock ResourceSizeMode = "block"
	// ResourceSizeModeLog lets it pass and notes it in the log.
	ResourceSizeModeLog ResourceSizeMode = "log"
)

// ShootTolerationConfiguration says what shoots may tolerate.
type ShootTolerationConfiguration struct {
	// Defaults are given to each new shoot that says nothing about their keys.
	// +optional
	Defaults []gardencorev1beta1.Toleration `json:"defaults,omitempty"`
	// Whitelist is what every shoot may tolerate. An entry without a value allows each value of its key.
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
	// UseGKEFormula reserves by the size of the machine instead of the same on each.
	// +optional
	UseGKEFormula bool `json:"useGKEFormula,omitempty"`
	// Selector limits the formula to shoots with some labels; it counts for all shoots when left out.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}
