// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// minimumValidity is the shortest lifetime of a certificate that can be requested.
const minimumValidity = 10 * time.Minute

// Validate returns the errors of the configuration, each with the path of the field.
func (o Options) Validate() error {
	return errors.Join(ValidateConfig(o.Config)...)
}

// ValidateConfig returns the errors of a configuration with defaults, each with the path of the field.
func ValidateConfig(c *gardenconfigv1alpha1.GardenletConfiguration) []error {
	var errs []error
	report := func(path, problem string) { errs = append(errs, fmt.Errorf("%s: %s", path, problem)) }
	if c.SeedConfig == nil {
		report("seedConfig", "required: it describes the seed of the gardenlet")
		return errs
	}
	for _, problem := range validation.IsDNS1123Label(c.SeedConfig.Name) {
		report("seedConfig.metadata.name", problem)
	}
	garden := c.GardenClientConnection
	if garden.BootstrapKubeconfig != nil && garden.KubeconfigSecret == nil {
		report("gardenClientConnection.kubeconfigSecret", "required together with bootstrapKubeconfig: the gardenlet stores its credentials there")
	}
	if garden.BootstrapKubeconfig == nil && garden.KubeconfigSecret == nil && garden.Kubeconfig == "" {
		report("gardenClientConnection", "no credentials for the garden: set kubeconfig, or bootstrapKubeconfig together with kubeconfigSecret")
	}
	validity := garden.KubeconfigValidity
	if validity.Validity != nil && validity.Validity.Duration < minimumValidity {
		report("gardenClientConnection.kubeconfigValidity.validity", fmt.Sprintf("must be at least %s", minimumValidity))
	}
	if from, until := *validity.AutoRotationJitterPercentageMin, *validity.AutoRotationJitterPercentageMax; from < 1 || until > 100 || from > until {
		report("gardenClientConnection.kubeconfigValidity", fmt.Sprintf("rotation between %d and %d percent of the validity is not possible: the percentages must be from 1 to 100, and the minimum must not exceed the maximum", from, until))
	}
	for resource, reserved := range reservedOf(c) {
		if capacity, ok := c.Resources.Capacity[resource]; !ok || capacity.Cmp(reserved) < 0 {
			report(fmt.Sprintf("resources.reserved[%s]", resource), "must not be more than the capacity")
		}
	}
	errs = append(errs, connectionErrors(c)...)
	if lock := c.LeaderElection; *lock.LeaderElect && lock.ResourceLock != resourcelock.LeasesResourceLock {
		report("leaderElection.resourceLock", fmt.Sprintf("must be %s: Kubernetes has no other locks any more", resourcelock.LeasesResourceLock))
	}
	if t := c.NodeToleration; t != nil && (ptr.Deref(t.DefaultNotReadyTolerationSeconds, 0) < 0 || ptr.Deref(t.DefaultUnreachableTolerationSeconds, 0) < 0) {
		report("nodeToleration", "the seconds must not be negative")
	}
	if *c.Controllers.Seed.LeaseResyncSeconds < 1 || *c.Controllers.Seed.LeaseResyncMissThreshold < 1 {
		report("controllers.seed", "leaseResyncSeconds and leaseResyncMissThreshold must be at least 1")
	}
	for i := range c.Controllers.NetworkPolicy.AdditionalNamespaceSelectors {
		if _, err := metav1.LabelSelectorAsSelector(&c.Controllers.NetworkPolicy.AdditionalNamespaceSelectors[i]); err != nil {
			report(fmt.Sprintf("controllers.networkPolicy.additionalNamespaceSelectors[%d]", i), err.Error())
		}
	}
	return errs
}

// connectionErrors returns what is wrong with the limits and formats of requests.
func connectionErrors(c *gardenconfigv1alpha1.GardenletConfiguration) []error {
	var errs []error
	formats := []string{"", runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}
	for _, connection := range []struct {
		path string
		gardenconfigv1alpha1.ClientConnectionConfiguration
	}{
		{"gardenClientConnection", c.GardenClientConnection.ClientConnectionConfiguration},
		{"seedClientConnection", c.SeedClientConnection.ClientConnectionConfiguration},
		{"shootClientConnection", c.ShootClientConnection.ClientConnectionConfiguration},
	} {
		if !slices.Contains(formats, connection.ContentType) {
			errs = append(errs, fmt.Errorf("%s.contentType: must be %s or %s", connection.path, formats[1], formats[2]))
		}
		if connection.Burst < 0 {
			errs = append(errs, fmt.Errorf("%s.burst: must not be negative", connection.path))
		}
	}
	return errs
}

// reservedOf returns the reserved part of the capacity.
func reservedOf(c *gardenconfigv1alpha1.GardenletConfiguration) corev1.ResourceList {
	if c.Resources == nil {
		return nil
	}
	return c.Resources.Reserved
}
