// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is an extension object of any kind but Cluster, which has neither a type nor a status.
type Object interface {
	metav1.Object
	runtime.Object

	// GetExtensionSpec returns the common part of the spec; changes to it change the object.
	GetExtensionSpec() *DefaultSpec
	// GetExtensionStatus returns the common part of the status; changes to it change the object.
	GetExtensionStatus() *DefaultStatus
}

var (
	_ Object = (*BackupBucket)(nil)
	_ Object = (*BackupEntry)(nil)
	_ Object = (*Bastion)(nil)
	_ Object = (*ContainerRuntime)(nil)
	_ Object = (*ControlPlane)(nil)
	_ Object = (*DNSRecord)(nil)
	_ Object = (*Extension)(nil)
	_ Object = (*Infrastructure)(nil)
	_ Object = (*Network)(nil)
	_ Object = (*OperatingSystemConfig)(nil)
	_ Object = (*SelfHostedShootExposure)(nil)
	_ Object = (*Worker)(nil)
)

// GetExtensionSpec returns the common part of the spec.
func (o *BackupBucket) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *BackupBucket) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *BackupEntry) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *BackupEntry) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *Bastion) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *Bastion) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *ContainerRuntime) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *ContainerRuntime) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *ControlPlane) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *ControlPlane) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *DNSRecord) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *DNSRecord) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *Extension) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *Extension) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *Infrastructure) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *Infrastructure) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *Network) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *Network) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *OperatingSystemConfig) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *OperatingSystemConfig) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *SelfHostedShootExposure) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *SelfHostedShootExposure) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }

// GetExtensionSpec returns the common part of the spec.
func (o *Worker) GetExtensionSpec() *DefaultSpec { return &o.Spec.DefaultSpec }

// GetExtensionStatus returns the common part of the status.
func (o *Worker) GetExtensionStatus() *DefaultStatus { return &o.Status.DefaultStatus }
