// SPDX-License-Identifier: Apache-2.0

package selfupgrade

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// Values are what the chart of the gardenlet is rendered with: the configuration of the Gardenlet, and what its deployment says about image,
// replicas, resources and images of components. What it does not say is as in the chart.
func Values(g *gardenseedmanagementv1alpha1.Gardenlet, connection *gardenconfigv1alpha1.GardenClientConnection) (map[string]any, error) {
	config, err := configuration(g, connection)
	if err != nil {
		return nil, err
	}
	values, deployment := map[string]any{"config": config}, g.Spec.Deployment
	if deployment.ReplicaCount != nil {
		values["replicas"] = *deployment.ReplicaCount
	}
	if image := imageOf(deployment.Image); image != "" {
		values["image"] = image
	}
	if deployment.Resources != nil {
		resources, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment.Resources)
		if err != nil {
			return nil, fmt.Errorf("spec.deployment.resources: %w", err)
		}
		values["resources"] = resources
	}
	if deployment.ImageVectorOverwrite != nil {
		values["imageVectorOverwrite"] = *deployment.ImageVectorOverwrite
	}
	return values, nil
}

// imageOf is the reference of an image; it is empty if that of the chart is to be taken.
func imageOf(image *gardenseedmanagementv1alpha1.Image) string {
	switch {
	case image == nil:
		return ""
	case ptr.Deref(image.Ref, "") != "":
		return *image.Ref
	case ptr.Deref(image.Repository, "") == "":
		return ""
	case ptr.Deref(image.Tag, "") == "":
		return *image.Repository
	default:
		return *image.Repository + ":" + *image.Tag
	}
}

// configuration is that of the Gardenlet, for the seed of its name. Access to the garden that it does not mention is that of the gardenlet that
// runs, because its certificate is stored there.
func configuration(g *gardenseedmanagementv1alpha1.Gardenlet, connection *gardenconfigv1alpha1.GardenClientConnection) (map[string]any, error) {
	config := map[string]any{}
	if err := json.Unmarshal(g.Spec.Config.Raw, &config); err != nil {
		return nil, fmt.Errorf("spec.config: %w", err)
	}
	if err := unstructured.SetNestedField(config, g.Name, "seedConfig", "metadata", "name"); err != nil {
		return nil, fmt.Errorf("spec.config.seedConfig: %w", err)
	}
	running := &gardenconfigv1alpha1.GardenClientConnection{}
	if connection != nil {
		running.KubeconfigSecret, running.BootstrapKubeconfig = connection.KubeconfigSecret, connection.BootstrapKubeconfig
		running.GardenClusterAddress = connection.GardenClusterAddress
	}
	inherited, err := runtime.DefaultUnstructuredConverter.ToUnstructured(running)
	if err != nil {
		return nil, fmt.Errorf("write how the garden is reached: %w", err)
	}
	for _, key := range []string{"kubeconfigSecret", "bootstrapKubeconfig", "gardenClusterAddress"} {
		path := []string{"gardenClientConnection", key}
		if _, given, err := unstructured.NestedFieldNoCopy(config, path...); err != nil {
			return nil, fmt.Errorf("spec.config: %w", err)
		} else if value := inherited[key]; !given && value != nil {
			if err := unstructured.SetNestedField(config, value, path...); err != nil {
				return nil, fmt.Errorf("spec.config: %w", err)
			}
		}
	}
	if _, stored, _ := unstructured.NestedMap(config, "gardenClientConnection", "kubeconfigSecret"); !stored {
		return nil, errors.New("spec.config.gardenClientConnection.kubeconfigSecret: required, because the credentials of this gardenlet are in a file")
	}
	return config, nil
}
