// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// FieldManagedSeedShootName selects ManagedSeeds by their shoot.
	FieldManagedSeedShootName = "spec.shoot.name"

	// ConditionTypeShootReconciled reports whether the shoot of a managed seed is reconciled.
	ConditionTypeShootReconciled gardencorev1beta1.ConditionType = "ShootReconciled"
	// ConditionTypeSeedRegistered reports whether the gardenlet of a managed seed is deployed and its seed is registered.
	ConditionTypeSeedRegistered gardencorev1beta1.ConditionType = "SeedRegistered"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedSeed makes a shoot a seed: a gardenlet is deployed into it that registers it.
type ManagedSeed struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says which shoot becomes a seed, and how.
	// +optional
	Spec ManagedSeedSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is the observed state of the managed seed.
	// +optional
	Status ManagedSeedStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedSeedList is a list of managed seeds.
type ManagedSeedList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the managed seeds.
	Items []ManagedSeed `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ManagedSeedTemplate is the template of the managed seeds of a set.
type ManagedSeedTemplate struct {
	// Standard object metadata, of which labels and annotations are taken over.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is that of every managed seed of the set, without the shoot.
	// +optional
	Spec ManagedSeedSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// ManagedSeedSpec says which shoot becomes a seed, and how.
type ManagedSeedSpec struct {
	// Shoot is the shoot, in the same namespace. It never changes; in the template of a set it stays unset.
	// +optional
	Shoot *Shoot `json:"shoot,omitempty" protobuf:"bytes,1,opt,name=shoot"`
	// SeedTemplate registers the shoot as a seed with a gardenlet that is deployed otherwise. It excludes gardenlet; last used
	// by Gardener v1.60.
	// +optional
	SeedTemplate *gardencorev1beta1.SeedTemplate `json:"seedTemplate,omitempty" protobuf:"bytes,1001,opt,name=seedTemplate"`
	// Gardenlet says how the gardenlet runs in the shoot. It is unset only with a seed template.
	Gardenlet *GardenletConfig `json:"gardenlet" protobuf:"bytes,3,opt,name=gardenlet"`
}

// Shoot names the shoot that becomes a seed.
type Shoot struct {
	// Name is the name of the shoot.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}

// GardenletConfig says how the gardenlet of a managed seed runs.
type GardenletConfig struct {
	// Deployment says how the gardenlet runs in the shoot.
	// +optional
	Deployment *GardenletDeployment `json:"deployment,omitempty" protobuf:"bytes,1,opt,name=deployment"`
	// Config is the GardenletConfiguration.
	// +optional
	Config runtime.RawExtension `json:"config,omitempty" protobuf:"bytes,2,opt,name=config"`
	// Bootstrap says how the gardenlet gets its first access to the garden. It never changes.
	// +optional
	Bootstrap *Bootstrap `json:"bootstrap,omitempty" protobuf:"bytes,3,opt,name=bootstrap"`
	// MergeWithParent takes fields that are not set here from the gardenlet that manages the shoot. It never changes.
	// +optional
	MergeWithParent *bool `json:"mergeWithParent,omitempty" protobuf:"varint,4,opt,name=mergeWithParent"`
}

// Bootstrap says how a gardenlet gets its first access to the garden.
type Bootstrap string

const (
	// BootstrapServiceAccount is a token of a service account.
	BootstrapServiceAccount Bootstrap = "ServiceAccount"
	// BootstrapToken is a bootstrap token.
	BootstrapToken Bootstrap = "BootstrapToken"
	// BootstrapNone uses the kubeconfig in the gardenlet's configuration.
	BootstrapNone Bootstrap = "None"
)

// ManagedSeedStatus is the observed state of a managed seed.
type ManagedSeedStatus struct {
	// Conditions are the conditions of the managed seed.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,2,opt,name=observedGeneration"`
}
