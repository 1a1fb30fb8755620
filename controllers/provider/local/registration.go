// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	providerlocal "github.com/terrarium-garden/terrarium/packaging/charts/provider-local"
)

// values are those of the chart.
type values struct {
	Images

	Kinds []string `json:"kinds"`
}

// helm is the provider configuration of a ControllerDeployment of type helm.
type helm struct {
	Chart  []byte `json:"chart"`
	Values values `json:"values"`
}

// Registration returns the ControllerRegistration, which registers the extension for its kinds.
func Registration() *gardencorev1beta1.ControllerRegistration {
	registration := &gardencorev1beta1.ControllerRegistration{
		TypeMeta:   typeMeta("ControllerRegistration"),
		ObjectMeta: metav1.ObjectMeta{Name: Name},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: Name}},
			},
		},
	}
	for _, kind := range Kinds() {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: engine.Type})
	}
	return registration
}

// Deployment returns the ControllerDeployment, which installs the chart with the given images.
func Deployment(images Images) (*gardencorev1beta1.ControllerDeployment, error) {
	archive, err := chart.Pack(Name, providerlocal.Files())
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(helm{Chart: archive, Values: values{Images: images, Kinds: resources()}})
	if err != nil {
		return nil, fmt.Errorf("encode chart values: %w", err)
	}
	return &gardencorev1beta1.ControllerDeployment{
		TypeMeta:       typeMeta("ControllerDeployment"),
		ObjectMeta:     metav1.ObjectMeta{Name: Name},
		Type:           "helm",
		ProviderConfig: runtime.RawExtension{Raw: config},
	}, nil
}

// resources returns the resource names of the kinds, for RBAC rules.
func resources() []string {
	kinds := Kinds()
	for i, kind := range kinds {
		kinds[i] = strings.ToLower(kind) + "s"
	}
	return kinds
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: kind}
}
