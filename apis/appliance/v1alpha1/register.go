// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terrarium-garden/terrarium/apis/selection"
)

// GroupName is the API group of the kinds in this package.
const GroupName = "appliance.gardener.cloud"

// GroupVersion is the group and version under which the kinds of this package are served.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// Resource returns the group and resource for a plural resource name of this package.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme registers every kind of this package under its served version, with the list, watch and delete options
// and the field selectors that clients may use.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, kinds()...)
	metav1.AddToGroupVersion(scheme, GroupVersion)

	return selection.Register(scheme, GroupVersion, map[string][]string{
		"TimelineEntry": {FieldSubjectKind, FieldSubjectName, FieldType, FieldSince, FieldUntil},
	})
}

// AddInternalToScheme registers the same Go types as the internal version of the group, which an API server needs.
func AddInternalToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}, kinds()...)

	return nil
}

func kinds() []runtime.Object {
	return []runtime.Object{
		&Snapshot{}, &SnapshotList{}, &TimelineEntry{}, &TimelineEntryList{}, &TimelineReport{},
	}
}
