// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=operatingsystemconfigs,shortName=osc,singular=operatingsystemconfig
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Purpose",type=string,JSONPath=`.spec.purpose`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatingSystemConfig asks for the set-up of a machine, which the extension translates into the format of its operating
// system.
type OperatingSystemConfig struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec OperatingSystemConfigSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status OperatingSystemConfigStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatingSystemConfigList is a list of OperatingSystemConfig objects.
type OperatingSystemConfigList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []OperatingSystemConfig `json:"items"`
}

// OperatingSystemConfigSpec lists the files and units that a machine needs.
type OperatingSystemConfigSpec struct {
	DefaultSpec `json:",inline"`

	// Purpose says whether this is for the first boot or for a running machine. It never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the purpose cannot change"
	Purpose OperatingSystemConfigPurpose `json:"purpose"`
	// CRIConfig describes the container runtime; used only for running machines.
	// +optional
	CRIConfig *CRIConfig `json:"criConfig,omitempty"`
	// Files are written to the machine.
	// +optional
	Files []File `json:"files,omitempty"`
	// Units are systemd units to be installed, changed or started.
	// +optional
	Units []Unit `json:"units,omitempty"`
	// InPlaceUpdates describes the desired versions of a machine that is updated without being replaced.
	// +optional
	InPlaceUpdates *InPlaceUpdates `json:"inPlaceUpdates,omitempty"`
}

// OperatingSystemConfigPurpose says for which stage of a machine's life a configuration is.
// +kubebuilder:validation:Enum=provision;reconcile
type OperatingSystemConfigPurpose string

const (
	// OperatingSystemConfigPurposeProvision is for the first boot.
	OperatingSystemConfigPurposeProvision OperatingSystemConfigPurpose = "provision"
	// OperatingSystemConfigPurposeReconcile is for a running machine.
	OperatingSystemConfigPurposeReconcile OperatingSystemConfigPurpose = "reconcile"
)

// Unit is a systemd unit.
type Unit struct {
	// Name is the name of the unit with its suffix.
	Name string `json:"name"`
	// Command is what to do with the unit once it is written.
	// +optional
	Command *UnitCommand `json:"command,omitempty"`
	// Enable says whether the unit starts at boot; true when unset.
	// +optional
	Enable *bool `json:"enable,omitempty"`
	// Content is the text of the unit file; unset to leave the file unchanged.
	// +optional
	Content *string `json:"content,omitempty"`
	// DropIns are additional snippets for the unit.
	// +optional
	DropIns []DropIn `json:"dropIns,omitempty"`
	// FilePaths are paths of files whose change restarts the unit.
	// +optional
	FilePaths []string `json:"filePaths,omitempty"`
}

// UnitCommand is an action on a systemd unit.
type UnitCommand string

const (
	// UnitCommandStart starts the unit.
	UnitCommandStart UnitCommand = "start"
	// UnitCommandRestart restarts the unit.
	UnitCommandRestart UnitCommand = "restart"
	// UnitCommandStop stops the unit.
	UnitCommandStop UnitCommand = "stop"
)

// DropIn is a snippet that adds to a systemd unit.
type DropIn struct {
	// Name is the file name of the snippet.
	Name string `json:"name"`
	// Content is the text of the snippet.
	Content string `json:"content"`
}

// File is a file on a machine.
type File struct {
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// Content says where the bytes come from; exactly one source is set.
	Content FileContent `json:"content"`
	// Permissions are the mode bits of the file, of which special ones do not count. 0644 when unset.
	// +kubebuilder:validation:Format=int32
	// +optional
	Permissions *uint32 `json:"permissions,omitempty"`
	// HostName restricts the file to the machine of that name.
	// +optional
	HostName *string `json:"hostName,omitempty"`
}

// FileContent is one of several sources for the bytes of a file.
type FileContent struct {
	// SecretRef takes the bytes from a Secret in the namespace of the configuration.
	// +optional
	SecretRef *FileContentSecretRef `json:"secretRef,omitempty"`
	// Inline is the content itself.
	// +optional
	Inline *FileContentInline `json:"inline,omitempty"`
	// TransmitUnencoded asks the extension to hand the bytes to the machine as they are, without decoding them.
	// +optional
	TransmitUnencoded *bool `json:"transmitUnencoded,omitempty"`
	// ImageRef takes the bytes out of a container image.
	// +optional
	ImageRef *FileContentImageRef `json:"imageRef,omitempty"`
}

// FileContentSecretRef names a key of a Secret.
type FileContentSecretRef struct {
	// Name is the name of the Secret.
	Name string `json:"name"`
	// DataKey is the key whose value is the content.
	DataKey string `json:"dataKey"`
}

// FileContentInline holds the content of a file.
type FileContentInline struct {
	// Encoding is b64 for data in base64 or empty for plain text.
	Encoding string `json:"encoding"`
	// Data is the content in the given encoding.
	Data string `json:"data"`
}

// FileContentImageRef names a file inside a container image.
type FileContentImageRef struct {
	// Image is the reference of the image.
	Image string `json:"image"`
	// FilePathInImage is the path of the file in the image.
	FilePathInImage string `json:"filePathInImage"`
}

// FileCodecID is the name of an encoding for inline file content.
type FileCodecID string

const (
	// FileCodecIDPlain means plain text.
	FileCodecIDPlain FileCodecID = ""
	// FileCodecIDBase64 means base64.
	FileCodecIDBase64 FileCodecID = "b64"
)

// OperatingSystemConfigStatus reports where the result is and what the operating system needs in addition.
type OperatingSystemConfigStatus struct {
	DefaultStatus `json:",inline"`

	// CloudConfig names the Secret that holds the generated user data; set for the first boot only.
	// +optional
	CloudConfig *CloudConfig `json:"cloudConfig,omitempty"`
	// ExtensionFiles are further files that the operating system needs.
	// +optional
	ExtensionFiles []File `json:"extensionFiles,omitempty"`
	// ExtensionUnits are further units that the operating system needs.
	// +optional
	ExtensionUnits []Unit `json:"extensionUnits,omitempty"`
	// InPlaceUpdates reports how the operating system is updated in place.
	// +optional
	InPlaceUpdates *InPlaceUpdatesStatus `json:"inPlaceUpdates,omitempty"`
}

// CloudConfig points to generated user data.
type CloudConfig struct {
	// SecretRef names the Secret; the user data is under the key cloud_config.
	SecretRef corev1.SecretReference `json:"secretRef"`
}

// InPlaceUpdates describes the desired state of machines that are updated without being replaced.
type InPlaceUpdates struct {
	// OperatingSystemVersion is the desired version of the operating system.
	OperatingSystemVersion string `json:"operatingSystemVersion"`
	// KubeletVersion is the desired Kubernetes version of the kubelet.
	KubeletVersion string `json:"kubelet"`
	// CredentialsRotation reports which credential rotations a machine has to follow.
	// +optional
	CredentialsRotation *CredentialsRotation `json:"credentialsRotation,omitempty"`
}

// CredentialsRotation reports when rotations of credentials were started.
type CredentialsRotation struct {
	// CertificateAuthorities describes the rotation of the certificate authorities.
	// +optional
	CertificateAuthorities *CARotation `json:"certificateAuthorities,omitempty"`
	// ServiceAccountKey describes the rotation of the key that signs service account tokens.
	// +optional
	ServiceAccountKey *ServiceAccountKeyRotation `json:"serviceAccountKey,omitempty"`
}

// CARotation describes the rotation of certificate authorities.
type CARotation struct {
	// LastInitiationTime is when the rotation was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// ServiceAccountKeyRotation describes the rotation of the service account signing key.
type ServiceAccountKeyRotation struct {
	// LastInitiationTime is when the rotation was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// InPlaceUpdatesStatus reports how to update the operating system of a machine in place.
type InPlaceUpdatesStatus struct {
	// OSUpdate is the command that updates the operating system.
	// +optional
	OSUpdate *OSUpdate `json:"osUpdate,omitempty"`
}

// OSUpdate is a command to run on the machine.
type OSUpdate struct {
	// Command is the program to run.
	Command string `json:"command"`
	// Args are its arguments.
	// +optional
	Args []string `json:"args,omitempty"`
}
