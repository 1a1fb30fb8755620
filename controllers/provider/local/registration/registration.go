// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/provider/local"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	providerlocal "github.com/terrarium-garden/terrarium/packaging/charts/provider-local"
)

// values are those of the chart.
type values struct {
	Image             string   `json:"image"`
	MachineImage      string   `json:"machineImage"`
	NetworkAgentImage string   `json:"networkAgentImage"`
	PauseImage        string   `json:"pauseImage"`
	ImageArchives     string   `json:"imageArchives"`
	Kinds             []string `json:"kinds"`
}

// helm is the provider configuration of a ControllerDeployment of type helm.
type helm struct {
	Chart  []byte `json:"chart"`
	Values values `json:"values"`
}

// Registration returns the ControllerRegistration.
func Registration() *gardencorev1beta1.ControllerRegistration {
	registration := &gardencorev1beta1.ControllerRegistration{
		TypeMeta:   typeMeta("ControllerRegistration"),
		ObjectMeta: metav1.ObjectMeta{Name: local.Name},
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: local.Name}},
			},
		},
	}
	for _, kind := range local.Kinds() {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: engine.Type})
	}
	return registration
}

// Deployment returns the ControllerDeployment, which installs the chart with the given images.
func Deployment(images local.Images) (*gardencorev1beta1.ControllerDeployment, error) {
	archive, err := chart.Pack(local.Name, providerlocal.Files())
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(helm{Chart: archive, Values: values{
		Image:             images.Terrarium,
		MachineImage:      images.Machine,
		NetworkAgentImage: images.NetworkAgent,
		PauseImage:        images.Pause,
		ImageArchives:     images.Archives,
		Kinds:             resources(),
	}})
	if err != nil {
		return nil, fmt.Errorf("encode chart values: %w", err)
	}
	return &gardencorev1beta1.ControllerDeployment{
		TypeMeta:       typeMeta("ControllerDeployment"),
		ObjectMeta:     metav1.ObjectMeta{Name: local.Name},
		Type:           "helm",
		ProviderConfig: runtime.RawExtension{Raw: config},
	}, nil
}

// resources are the names of the kinds in rules of access.
func resources() []string {
	kinds := local.Kinds()
	for i, kind := range kinds {
		kinds[i] = strings.ToLower(kind) + "s"
	}
	return kinds
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: kind}
}
