// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=dnsrecords,shortName=dns,singular=dnsrecord
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Record Type",type=string,JSONPath=`.spec.recordType`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// DNSRecord asks for one record set in the domain name system.
type DNSRecord struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec DNSRecordSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status DNSRecordStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// DNSRecordList is a list of DNSRecord objects.
type DNSRecordList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []DNSRecord `json:"items"`
}

// +kubebuilder:validation:XValidation:rule="!(self.recordType in ['A', 'AAAA']) || self.values.all(v, isIP(v))",message="the values of a record of type A or AAAA must be IP addresses"
// +kubebuilder:validation:XValidation:rule="self.recordType != 'CNAME' || size(self.values) == 1",message="a record of type CNAME must have exactly one value"
// +kubebuilder:validation:XValidation:rule="self.recordType != 'CNAME' || size(self.values) != 1 || self.values[0].matches('(?i)^([a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9])?[.])+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.]?$')",message="the value of a record of type CNAME must be a fully qualified domain name"

// DNSRecordSpec says what the record contains and where it is kept.
type DNSRecordSpec struct {
	DefaultSpec `json:",inline"`

	// Name is the fully qualified domain name, also with a leading wildcard label. It never changes.
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:Pattern=`^([*][.])?([a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9])?[.])+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.]?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the name of a DNS record cannot change"
	Name string `json:"name"`
	// RecordType is one of A, AAAA, CNAME and TXT. It never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the record type cannot change"
	RecordType DNSRecordType `json:"recordType"`
	// SecretRef names the Secret with the credentials of the DNS service.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != ''",message="the name of the Secret is required"
	SecretRef corev1.SecretReference `json:"secretRef"`
	// Values are the addresses, host name or texts of the record.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=4096
	Values []string `json:"values"`
	// Region is the region of the DNS service, for services that have regions.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region *string `json:"region,omitempty"`
	// TTL is the time in seconds for which resolvers may keep the record. 120 when unset.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTL *int64 `json:"ttl,omitempty"`
	// Zone is the identifier of the hosted zone; the extension finds it by name when unset.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Zone *string `json:"zone,omitempty"`
}

// DNSRecordType is the type of a record set.
// +kubebuilder:validation:Enum=A;AAAA;CNAME;TXT
type DNSRecordType string

const (
	// DNSRecordTypeA maps the name to IPv4 addresses.
	DNSRecordTypeA DNSRecordType = "A"
	// DNSRecordTypeAAAA maps the name to IPv6 addresses.
	DNSRecordTypeAAAA DNSRecordType = "AAAA"
	// DNSRecordTypeCNAME makes the name an alias of another one.
	DNSRecordTypeCNAME DNSRecordType = "CNAME"
	// DNSRecordTypeTXT holds free text.
	DNSRecordTypeTXT DNSRecordType = "TXT"
)

// DNSRecordStatus reports in which zone the record was made.
type DNSRecordStatus struct {
	DefaultStatus `json:",inline"`

	// Zone is the identifier of the hosted zone that holds the record.
	// +optional
	Zone *string `json:"zone,omitempty"`
}
