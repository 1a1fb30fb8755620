// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the kinds in this package.
const GroupName = "core.gardener.cloud"

// GroupVersion is the group and version under which the kinds of this package are served.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

// Kind returns the group and kind for a kind of this package.
func Kind(kind string) schema.GroupKind {
	return GroupVersion.WithKind(kind).GroupKind()
}

// Resource returns the group and resource for a plural resource name of this package.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme registers every kind of this package under its served version, with the list, watch and delete options
// and the field selectors that clients may use.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, kinds()...)
	scheme.AddKnownTypes(GroupVersion, &ControllerDeployment{}, &ControllerDeploymentList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)

	return addFieldLabelConversions(scheme)
}

// AddInternalToScheme registers the same Go types as the internal version of the group. An API server needs an internal
// version to store and to convert through; clients must not call it, because a type would then have two kinds.
//
// ControllerDeployment is not registered here: its internal version is that of core/v1.
func AddInternalToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}, kinds()...)

	return nil
}

func kinds() []runtime.Object {
	return []runtime.Object{
		&BackupBucket{}, &BackupBucketList{},
		&BackupEntry{}, &BackupEntryList{},
		&CloudProfile{}, &CloudProfileList{},
		&ControllerInstallation{}, &ControllerInstallationList{},
		&ControllerRegistration{}, &ControllerRegistrationList{},
		&ExposureClass{}, &ExposureClassList{},
		&InternalSecret{}, &InternalSecretList{},
		&NamespacedCloudProfile{}, &NamespacedCloudProfileList{},
		&Plant{}, &PlantList{},
		&Project{}, &ProjectList{},
		&Quota{}, &QuotaList{},
		&SecretBinding{}, &SecretBindingList{},
		&Seed{}, &SeedList{},
		&Shoot{}, &ShootList{},
		&ShootState{}, &ShootStateList{},
	}
}
