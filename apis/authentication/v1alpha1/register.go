// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the kinds in this package.
const GroupName = "authentication.gardener.cloud"

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers every kind of this package under its version.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, kinds()...)
	metav1.AddToGroupVersion(scheme, GroupVersion)

	return nil
}

// AddInternalToScheme registers the same Go types as the internal version of the group, which an API server needs to
// decode request bodies. Clients must not call it.
func AddInternalToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}, kinds()...)

	return nil
}

func kinds() []runtime.Object {
	return []runtime.Object{&AdminKubeconfigRequest{}, &ViewerKubeconfigRequest{}}
}
