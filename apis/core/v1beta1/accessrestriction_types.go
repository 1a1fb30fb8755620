// SPDX-License-Identifier: Apache-2.0

package v1beta1

// AccessRestriction restricts access to a cluster.
type AccessRestriction struct {
	// Name identifies the restriction.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}

// AccessRestrictionWithOptions is a restriction together with settings for it.
type AccessRestrictionWithOptions struct {
	AccessRestriction `json:",inline" protobuf:"bytes,1,opt,name=accessRestriction"`

	// Options are settings that only the restriction understands.
	// +optional
	Options map[string]string `json:"options,omitempty" protobuf:"bytes,2,rep,name=options"`
}
