// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Gardener identifies the component that acted on an object.
type Gardener struct {
	// Name is the name of the instance, usually that of its pod.
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`
	// Version is the version of the component.
	Version string `json:"version" protobuf:"bytes,3,opt,name=version"`
	// ID identifies the installation.
	ID string `json:"id" protobuf:"bytes,1,opt,name=id"`
}
