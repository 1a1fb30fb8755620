// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
)

// New returns a scheme for clients and controllers: the kinds of Kubernetes itself, custom resource definitions, and
// the kinds of the garden and of its extensions, each in its served version only.
func New() (*runtime.Scheme, error) {
	s := runtime.NewScheme()

	if err := add(s, map[string]func(*runtime.Scheme) error{
		"Kubernetes":                           kubernetesscheme.AddToScheme,
		apiextensionsv1.GroupName:              apiextensionsv1.AddToScheme,
		gardencorev1beta1.GroupName:            gardencorev1beta1.AddToScheme,
		gardencorev1.GroupVersion.String():     gardencorev1.AddToScheme,
		gardenauthenticationv1alpha1.GroupName: gardenauthenticationv1alpha1.AddToScheme,
		gardenappliancev1alpha1.GroupName:      gardenappliancev1alpha1.AddToScheme,
		gardenoperationsv1alpha1.GroupName:     gardenoperationsv1alpha1.AddToScheme,
		gardenoperatorv1alpha1.GroupName:       gardenoperatorv1alpha1.AddToScheme,
		gardenseedmanagementv1alpha1.GroupName: gardenseedmanagementv1alpha1.AddToScheme,
		gardensettingsv1alpha1.GroupName:       gardensettingsv1alpha1.AddToScheme,
		gardensecurityv1alpha1.GroupName:       gardensecurityv1alpha1.AddToScheme,
		gardenextensionsv1alpha1.GroupName:     gardenextensionsv1alpha1.AddToScheme,
		gardenmachinev1alpha1.GroupName:        gardenmachinev1alpha1.AddToScheme,
		gardenresourcesv1alpha1.GroupName:      gardenresourcesv1alpha1.AddToScheme,
	}); err != nil {
		return nil, err
	}

	return s, nil
}

// AddServed registers what the garden API server serves: every garden kind in its served version and, as the same Go
// type, in the internal version through which the server stores it, with the defaults for what objects leave out.
//
// The scheme must not be used to name OpenAPI models, because a type then has two kinds; take one filled by
// AddServedVersions for that.
func AddServed(s *runtime.Scheme) error {
	if err := AddServedVersions(s); err != nil {
		return err
	}

	gardenauthenticationv1alpha1.RegisterDefaults(s)
	gardencorev1beta1.RegisterDefaults(s)
	gardenoperatorv1alpha1.RegisterDefaults(s)
	gardenseedmanagementv1alpha1.RegisterDefaults(s)
	gardensecurityv1alpha1.RegisterDefaults(s)
	addScale(s, runtime.APIVersionInternal)

	return add(s, map[string]func(*runtime.Scheme) error{
		gardencorev1beta1.GroupName:            gardencorev1beta1.AddInternalToScheme,
		gardencorev1.GroupVersion.String():     gardencorev1.AddInternalToScheme,
		gardenauthenticationv1alpha1.GroupName: gardenauthenticationv1alpha1.AddInternalToScheme,
		gardenappliancev1alpha1.GroupName:      gardenappliancev1alpha1.AddInternalToScheme,
		gardenoperationsv1alpha1.GroupName:     gardenoperationsv1alpha1.AddInternalToScheme,
		gardenoperatorv1alpha1.GroupName:       gardenoperatorv1alpha1.AddInternalToScheme,
		gardenseedmanagementv1alpha1.GroupName: gardenseedmanagementv1alpha1.AddInternalToScheme,
		gardensettingsv1alpha1.GroupName:       gardensettingsv1alpha1.AddInternalToScheme,
		gardensecurityv1alpha1.GroupName:       gardensecurityv1alpha1.AddInternalToScheme,
	})
}

// AddServedVersions registers what the garden API server serves in its served versions only, together with the option
// and status kinds of the meta group. It is the right scheme to name OpenAPI models from.
func AddServedVersions(s *runtime.Scheme) error {
	if err := add(s, map[string]func(*runtime.Scheme) error{
		gardencorev1beta1.GroupName:            gardencorev1beta1.AddToScheme,
		gardencorev1.GroupVersion.String():     gardencorev1.AddToScheme,
		gardenauthenticationv1alpha1.GroupName: gardenauthenticationv1alpha1.AddToScheme,
		gardenappliancev1alpha1.GroupName:      gardenappliancev1alpha1.AddToScheme,
		gardenoperationsv1alpha1.GroupName:     gardenoperationsv1alpha1.AddToScheme,
		gardenoperatorv1alpha1.GroupName:       gardenoperatorv1alpha1.AddToScheme,
		gardenseedmanagementv1alpha1.GroupName: gardenseedmanagementv1alpha1.AddToScheme,
		gardensettingsv1alpha1.GroupName:       gardensettingsv1alpha1.AddToScheme,
		gardensecurityv1alpha1.GroupName:       gardensecurityv1alpha1.AddToScheme,
	}); err != nil {
		return err
	}

	addScale(s, autoscalingv1.SchemeGroupVersion.Version)

	for _, group := range ServedGroups() {
		if err := s.SetVersionPriority(group...); err != nil {
			return fmt.Errorf("set version priority of group %q: %w", group[0].Group, err)
		}
	}

	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, unversioned)
	s.AddUnversionedTypes(unversioned,
		&metav1.Status{},
		&metav1.APIVersions{},
		&metav1.APIGroupList{},
		&metav1.APIGroup{},
		&metav1.APIResourceList{},
	)

	return nil
}

// AddProtobuf registers the kinds that can be encoded in protobuf, in their served versions.
func AddProtobuf(s *runtime.Scheme) error {
	return add(s, map[string]func(*runtime.Scheme) error{
		gardencorev1beta1.GroupName:            gardencorev1beta1.AddToScheme,
		gardencorev1.GroupVersion.String():     gardencorev1.AddToScheme,
		gardenauthenticationv1alpha1.GroupName: gardenauthenticationv1alpha1.AddToScheme,
		gardenoperationsv1alpha1.GroupName:     gardenoperationsv1alpha1.AddToScheme,
		gardenseedmanagementv1alpha1.GroupName: gardenseedmanagementv1alpha1.AddToScheme,
		gardensecurityv1alpha1.GroupName:       gardensecurityv1alpha1.AddToScheme,
	})
}

// ServedGroups lists the groups of the garden API server, each with its versions in order of preference.
func ServedGroups() [][]schema.GroupVersion {
	return [][]schema.GroupVersion{
		{gardencorev1beta1.GroupVersion, gardencorev1.GroupVersion},
		{gardenseedmanagementv1alpha1.GroupVersion},
		{gardenoperationsv1alpha1.GroupVersion},
		{gardensecurityv1alpha1.GroupVersion},
		{gardensettingsv1alpha1.GroupVersion},
		{gardenoperatorv1alpha1.GroupVersion},
		{gardenauthenticationv1alpha1.GroupVersion},
		{gardenappliancev1alpha1.GroupVersion},
	}
}

func add(s *runtime.Scheme, groups map[string]func(*runtime.Scheme) error) error {
	for name, addToScheme := range groups {
		if err := addToScheme(s); err != nil {
			return fmt.Errorf("register kinds of group %q: %w", name, err)
		}
	}

	return nil
}

// addScale registers the type of scale subresources.
func addScale(s *runtime.Scheme, version string) {
	s.AddKnownTypes(schema.GroupVersion{Group: autoscalingv1.GroupName, Version: version}, &autoscalingv1.Scale{})
}
